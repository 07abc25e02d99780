"""What capacity searches found.

In a table, in lines for a terminal, and as data. It searches and decides nothing: `analysis.search` did, and
`capacity_charts` draws.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from middlemark.analysis.search.capacity import Capacity, State
from middlemark.analysis.search.threshold import Threshold
from middlemark.plan import varying_factors
from middlemark.plan.experiment import Sought
from middlemark.plan.schedule import Load
from middlemark.report.elements.delivery import DELIVERY
from middlemark.report.elements.formatting import ABSENT, MEGABITS_PER_S, MEGABYTES_PER_S, digits
from middlemark.report.elements.labels import Series
from middlemark.report.elements.tables import MIDDLEWARE, NOTHING, Cell, Table, sentences, table, values
from middlemark.suite import DURATION, SHARE, SIZE
from middlemark.suite.yaml.quantity import plural

IN_LABELS = {"middleware", "profile", "side", "rate", "size", "workload"}


def capacity_table(capacities: Sequence[Capacity], who: Mapping[str, Series]) -> Table | None:
    """A row for each search, by message, the highest capacity first."""
    if not capacities:
        return None
    message_of = settings(capacities)
    ordered = _ordered(capacities)
    rows = [
        (
            who[each.experiment.id].label,
            Cell(each.delivery),
            message_of[each.experiment.id],
            *_cells(each),
            Cell(each.n_trials),
        )
        for each in ordered
    ]
    loads = values("sustained", "payload", "not sustained")
    return table(
        "Capacity",
        (
            MIDDLEWARE,
            DELIVERY,
            sentences("message"),
            *loads,
            sentences("for"),
            *values("knee", "half sustained", "trials"),
        ),
        rows,
        f"{_what(capacities)} of each publisher that is sustained, {_bounds(capacities)}; the next higher step is not. "
        f"Both are confirmed by a majority of trials. {_several(capacities)}Knee: where latency over load begins to "
        "climb (Kneedle). Half sustained: the load that half of the trials would sustain, from a logistic curve "
        "through all trials, with its 95 % confidence interval.",
    )


def _ordered(capacities: Sequence[Capacity]) -> list[Capacity]:
    message_of = settings(capacities)
    return sorted(capacities, key=lambda one: (one.sought, one.given, message_of[one.experiment.id], -_payload(one)))


def _what(capacities: Sequence[Capacity]) -> str:
    names = {Sought.RATE: "the highest rate", Sought.SIZE: "the largest size at the rate"}
    said = " or ".join(name for sought, name in names.items() if any(each.sought is sought for each in capacities))
    return said[0].upper() + said[1:]


def _several(capacities: Sequence[Capacity]) -> str:
    repeated = any(len(each.searches) > 1 for each in capacities)
    return (
        "Of several searches the middle one is shown, with the lowest and the highest in brackets. " if repeated else ""
    )


def _payload(each: Capacity) -> float:
    return 0.0 if each.sustained is None else each.sustained.payload_bytes_per_s


def _bounds(capacities: Sequence[Capacity]) -> str:
    said = {
        f"with at most {SHARE.text(each.search.loss_share)} undelivered and 99 % within "
        f"{DURATION.text(each.search.latency_ns)} of the instant at which they were due"
        for each in capacities
    }
    return ", or ".join(sorted(said))


def _cells(each: Capacity) -> tuple[Cell | str, ...]:
    if each.state is State.NOT_APPLICABLE:
        return NOTHING, NOTHING, NOTHING, _not_applicable(each), NOTHING, NOTHING
    above, knee = (
        NOTHING if load is None else load_words(load, each.sought) for load in (each.not_sustained, each.knee)
    )
    payload = NOTHING if each.sustained is None else payload_words(each.sustained)
    return sustained_words(each), payload, above, _limits(each) or NOTHING, knee, half_words(each)


def _not_applicable(each: Capacity) -> str:
    return f"not applicable: {each.reason}"


def _limits(each: Capacity) -> str:
    return ", ".join(limit.value.replace("_", " ") for limit in each.limits)


def sustained_words(each: Capacity) -> str:
    """The highest load that is sustained, as far as the search found it."""
    words = {State.AT_LEAST: "at least ", State.OPEN: "open: "}.get(each.state, "")
    load = "nothing" if each.sustained is None else words + load_words(each.sustained, each.sought)
    return load + _scattered(each)


def half_words(each: Capacity) -> str:
    """The load that half of the trials sustain, with its interval; an end that no trial shows is open."""
    found = each.half_sustained
    if not isinstance(found, Threshold):
        return found.reason
    value, low = (_sought_words(one, each.sought) for one in (found.value, found.low))
    high = "" if found.high == math.inf else _sought_words(found.high, each.sought)
    if found.low and found.high < math.inf:
        return f"{value} ({low} to {high})"
    return f"{value} (from {low}, open above)" if found.low else f"{value} (up to {high}, open below)"


def _sought_words(value: float, sought: Sought) -> str:
    return rate(value) if sought is Sought.RATE else SIZE.text(float(f"{value:.3g}"))


def _scattered(each: Capacity) -> str:
    """Of several searches the lowest and the highest that they found; of those that say anything."""
    decided = [one for one in each.searches if one.sustained or one.not_sustained]
    if len(decided) < 2:
        return ""
    loads = [one.sustained for one in decided if one.sustained]
    ends = sorted({load.of(each.sought): load_words(load, each.sought) for load in loads}.items())
    words = [*(["nothing"] if len(loads) < len(decided) else []), *(text for _, text in ends)]
    return f" ({len(decided)} searches: {words[0] if len(words) == 1 else f'{words[0]} to {words[-1]}'})"


def payload_words(load: Load | None) -> str:
    """The payload that a load is, in bytes and in bits."""
    if load is None:
        return ABSENT
    per_s = load.payload_bytes_per_s
    return f"{MEGABYTES_PER_S.write(per_s)} MB/s, {MEGABITS_PER_S.write(per_s)} Mbit/s"


def load_words(load: Load, sought: Sought) -> str:
    """Its rate or its size, whichever was searched for."""
    return rate(load.rate_hz) if sought is Sought.RATE else SIZE.text(load.size_bytes)


def rate(value_hz: float) -> str:
    """A rate in the unit that suits it."""
    for unit_hz, unit in ((1e6, "MHz"), (1e3, "kHz")):
        if value_hz >= unit_hz:
            return f"{digits(value_hz / unit_hz)} {unit}"
    return f"{digits(value_hz)} Hz"


def capacity_lines(capacities: Sequence[Capacity], who: Mapping[str, Series]) -> list[str]:
    """A line for each search; with its delivery where they differ."""
    message_of = settings(capacities)
    differ = len({each.delivery for each in capacities if each.delivery}) > 1
    lines = []
    for each in _ordered(capacities):
        of_search = [who[each.experiment.id].label, message_of[each.experiment.id]]
        if differ and each.delivery and "delivery" not in each.experiment.factors:
            of_search.append(each.delivery)
        lines.append(f"{', '.join(of_search)}: {_line(each)}")
    return lines


def _line(each: Capacity) -> str:
    if each.state is State.NOT_APPLICABLE:
        return _not_applicable(each)
    amount = f" ({payload_words(each.sustained)})" if each.sustained else ""
    above = (
        f", not {load_words(each.not_sustained, each.sought)} ({_limits(each) or ABSENT})" if each.not_sustained else ""
    )
    knee = f", knee at {load_words(each.knee, each.sought)}" if each.knee else ""
    curve = f", half sustained {half_words(each)}" if isinstance(each.half_sustained, Threshold) else ""
    return f"{sustained_words(each)}{amount}{above}{knee}{curve}, {plural(each.n_trials, 'trial')}"


def settings(capacities: Sequence[Capacity]) -> dict[str, str]:
    """By experiment: the message, and what else tells searches apart."""
    experiments = [each.experiment for each in capacities]
    varying = distinguishing_factors(capacities)
    fixed = {each.experiment.id: "size" if each.sought is Sought.RATE else "rate" for each in capacities}
    return {
        each.id: ", ".join(
            [
                each.workload.replace("_", " "),
                each.factors[fixed[each.id]],
                *(f"{name} {each.factors[name]}" for name in varying if name in each.factors),
            ]
        )
        for each in experiments
    }


def distinguishing_factors(capacities: Sequence[Capacity]) -> list[str]:
    """The factors that tell searches apart and that no label has."""
    varying = varying_factors([each.experiment for each in capacities])
    return [name for name in varying if name not in IN_LABELS and "option." not in name]


def as_data(capacities: Sequence[Capacity]) -> list[dict[str, object]]:
    """Every search with its curve, for a program to read."""
    return [
        {
            "experiments": {name: text for name, text in each.experiment.factors.items() if name != each.sought},
            "sought": each.sought.value,
            "state": each.state.value,
            "carried": _load(each.sustained),
            "not_carried": _load(each.not_sustained),
            "limits": [limit.value for limit in each.limits],
            "knee": _load(each.knee),
            "half_carried": _half_carried(each),
            "n_trials": each.n_trials,
            "searches": [
                {"state": one.state.value, "carried": _load(one.sustained), "not_carried": _load(one.not_sustained)}
                for one in each.searches
            ],
            "points": [{**asdict(point), "load": _load(point.load)} for point in each.points],
        }
        for each in capacities
    ]


def _half_carried(each: Capacity) -> dict[str, object]:
    """In hertz or bytes, null where an end is open; or the reason why there is none."""
    found = each.half_sustained
    if not isinstance(found, Threshold):
        return {"value": None, "reason": found.reason}
    open_high = found.high == math.inf
    return {**asdict(found), "low": found.low or None, "high": None if open_high else found.high, "reason": ""}


def _load(load: Load | None) -> dict[str, float] | None:
    return None if load is None else {**asdict(load), "payload_bits_per_s": 8 * load.payload_bytes_per_s}
