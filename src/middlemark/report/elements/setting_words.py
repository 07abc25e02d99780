"""A setting in words: its load, and what tells it from a run's other settings.

A setting is a set of factors, as `analysis.compare` groups experiments by; whose values are shown beside it is no
concern of this module.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from middlemark.analysis.compare.comparison import Comparison, Setting

LOAD = ("workload", "pattern", "size", "rate", "messages", "topics", "reliability", "topology")
"""The factors that words of a load have in any case."""
CONDITIONS = ("deployment", "cpu_load", "security", "faults", "link", "host")
"""Those that are said wherever they are set; those of one link or host begin with its word."""


def distinguishing(comparisons: Sequence[Comparison]) -> frozenset[str]:
    """The factors that tell settings of one workload apart."""
    varying: set[str] = set()
    for workload in {comparison.setting.workload for comparison in comparisons}:
        settings = [
            dict(comparison.setting.factors) for comparison in comparisons if comparison.setting.workload == workload
        ]
        names = {name for factors in settings for name in factors}
        varying |= {name for name in names if len({factors.get(name) for factors in settings}) > 1}
    return frozenset(varying)


def describe_load(setting: Setting, varying: frozenset[str] = frozenset()) -> str:
    """The load in words: `4 MB at 20 Hz, reliable, C1-1`."""
    factors = dict(setting.factors)
    conditions = [
        condition_words(name, value)
        for name, value in factors.items()
        if name not in LOAD and (name in varying or name.split(".")[0] in CONDITIONS)
    ]
    chain = [f"chain {setting.stream.replace('_', ' ')}"] if setting.of_chain else []
    return ", ".join([*chain, load_words({name: factors[name] for name in LOAD if name in factors}), *conditions])


def load_words(factors: Mapping[str, str]) -> str:
    """A load without what is left out of `factors`, conditions as far as they are set."""
    size = factors.get("size", "")
    if "rate" in factors:
        many = f"{factors['messages']} × " if factors.get("pattern") == "burst" and "messages" in factors else ""
        size = f"{many}{size} at {factors['rate']}"
    topics = f"{factors['topics']} topics" if "topics" in factors else ""
    words = [
        size,
        topics,
        factors.get("pattern", "").replace("_", "-"),
        factors.get("reliability", "").replace("_", " "),
    ]
    conditions = [condition_words(name, value) for name, value in factors.items() if name.split(".")[0] in CONDITIONS]
    return ", ".join(word for word in [*words, factors.get("topology", ""), *conditions] if word)


FACTOR_BOUNDARY = re.compile(r" (?=[\w.]+=)")
"""Between the factors of a setting, `size=1 kB rate=200 Hz`, whose values may hold spaces."""


def setting_words(setting: str) -> str:
    """A setting as it is stored, in words: `udp, imu: 1 kB at 200 Hz, best effort, congestion drop`."""
    factors = dict(factor.split("=", 1) for factor in FACTOR_BOUNDARY.split(setting) if "=" in factor)
    names = [factors.pop(name).replace("_", " ") for name in ("middleware", "workload") if name in factors]
    others = [
        condition_words(name.removeprefix("option."), value)
        for name, value in factors.items()
        if name not in LOAD and name.partition(".")[0] not in CONDITIONS
    ]
    load = ", ".join(part for part in (load_words(factors), *others) if part)
    return ": ".join(part for part in (", ".join(names), load) if part)


def stream_beside(setting: str, stream: str | None) -> str:
    """A stream's name where the words of its stored setting don't have it; else nothing."""
    is_said = f"workload={stream}" in FACTOR_BOUNDARY.split(setting)
    return "" if stream is None or is_said else stream


def condition_words(name: str, value: str) -> str:
    """A factor as it is said beside others."""
    kind, _, target = name.partition(".")
    value = value.replace("_", " ")
    words = {
        "faults": f"faults: {value}",
        "cpu_load": f"CPU load {value}",
        "security": "without security" if value == "none" else value,
        "link": f"link {target} {value}" if target else f"links {value}",
        "host": f"host {target} {value}",
    }
    named = {"true": name.replace("_", " "), "false": f"not {name.replace('_', ' ')}"}
    plain = kind in {"deployment", "durability", "history"}
    return words.get(kind) or named.get(value) or (value if plain else f"{name.replace('_', ' ')} {value}")
