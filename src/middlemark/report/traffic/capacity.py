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
from middlemark.plan.experiment import Sought
from middlemark.plan.factors import SENT_FACTORS, is_of_candidate, varying_factors
from middlemark.plan.schedule import Load
from middlemark.report.elements.candidate_tables import labelled_table
from middlemark.report.elements.formatting import ABSENT, MEGABITS_PER_S, MEGABYTES_PER_S, digits
from middlemark.report.elements.labels import Series
from middlemark.report.elements.tables import NOTHING, Cell, Table, sentences, values
from middlemark.suite import DURATION, SHARE, SIZE
from middlemark.suite.yaml.quantity import plural


def capacity_table(capacities: Sequence[Capacity], series_of: Mapping[str, Series]) -> Table | None:
    """A row for each search, by message, the highest capacity first."""
    if not capacities:
        return None
    message_of = settings(capacities)
    rows = (
        (
            series_of[capacity.experiment.id].label,
            Cell(capacity.delivery),
            (message_of[capacity.experiment.id], *_cells(capacity), Cell(capacity.n_trials)),
        )
        for capacity in _ordered(capacities)
    )
    loads = values("sustained", "payload", "not sustained")
    return labelled_table(
        "Capacity",
        (
            sentences("message"),
            *loads,
            sentences("because of"),
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
    return sorted(
        capacities,
        key=lambda capacity: (capacity.sought, capacity.given, message_of[capacity.experiment.id], -_payload(capacity)),
    )


def _what(capacities: Sequence[Capacity]) -> str:
    names = {Sought.RATE: "the highest rate", Sought.SIZE: "the largest size at the rate"}
    words = " or ".join(
        name for sought, name in names.items() if any(capacity.sought is sought for capacity in capacities)
    )
    return words[0].upper() + words[1:]


def _several(capacities: Sequence[Capacity]) -> str:
    repeated = any(len(capacity.searches) > 1 for capacity in capacities)
    return (
        "Of several searches the middle one is shown, with the lowest and the highest in brackets. " if repeated else ""
    )


def _payload(capacity: Capacity) -> float:
    return 0.0 if capacity.sustained is None else capacity.sustained.payload_bytes_per_s


def _bounds(capacities: Sequence[Capacity]) -> str:
    bounds = {
        f"with at most {SHARE.text(capacity.search.loss_share)} undelivered and 99 % within "
        f"{DURATION.text(capacity.search.latency_ns)} of the instant at which they were due"
        for capacity in capacities
    }
    return ", or ".join(sorted(bounds))


def _cells(capacity: Capacity) -> tuple[Cell | str, ...]:
    if capacity.state is State.NOT_APPLICABLE:
        return NOTHING, NOTHING, NOTHING, _not_applicable(capacity), NOTHING, NOTHING
    above, knee = (
        NOTHING if load is None else load_words(load, capacity.sought)
        for load in (capacity.not_sustained, capacity.knee)
    )
    payload = NOTHING if capacity.sustained is None else payload_words(capacity.sustained)
    return sustained_words(capacity), payload, above, _limits(capacity) or NOTHING, knee, half_words(capacity)


def _not_applicable(capacity: Capacity) -> str:
    return f"not applicable: {capacity.reason}"


def _limits(capacity: Capacity) -> str:
    return ", ".join(limit.value.replace("_", " ") for limit in capacity.limits)


def sustained_words(capacity: Capacity) -> str:
    """The highest load that is sustained, as far as the search found it."""
    words = {State.AT_LEAST: "at least ", State.OPEN: "open: "}.get(capacity.state, "")
    load = "nothing" if capacity.sustained is None else words + load_words(capacity.sustained, capacity.sought)
    return load + _scattered(capacity)


def half_words(capacity: Capacity) -> str:
    """The load that half of the trials sustain, with its interval; an end that no trial shows is open."""
    threshold = capacity.half_sustained
    if not isinstance(threshold, Threshold):
        return threshold.reason
    value, low = (_sought_words(load, capacity.sought) for load in (threshold.value, threshold.low))
    high = "" if threshold.high == math.inf else _sought_words(threshold.high, capacity.sought)
    if threshold.low and threshold.high < math.inf:
        return f"{value} ({low} to {high})"
    return f"{value} (from {low}, open above)" if threshold.low else f"{value} (up to {high}, open below)"


def _sought_words(value: float, sought: Sought) -> str:
    return rate(value) if sought is Sought.RATE else SIZE.text(float(f"{value:.3g}"))


def _scattered(capacity: Capacity) -> str:
    """Of several searches the lowest and the highest that they found; of those that say anything."""
    decided = [search for search in capacity.searches if search.sustained or search.not_sustained]
    if len(decided) < 2:
        return ""
    loads = [search.sustained for search in decided if search.sustained]
    ends = sorted({load.of(capacity.sought): load_words(load, capacity.sought) for load in loads}.items())
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


def capacity_lines(capacities: Sequence[Capacity], series_of: Mapping[str, Series]) -> list[str]:
    """A line for each search; with its delivery where they differ."""
    message_of = settings(capacities)
    differ = len({capacity.delivery for capacity in capacities if capacity.delivery}) > 1
    lines = []
    for capacity in _ordered(capacities):
        of_search = [series_of[capacity.experiment.id].label, message_of[capacity.experiment.id]]
        if differ and capacity.delivery and "delivery" not in capacity.experiment.factors:
            of_search.append(capacity.delivery)
        lines.append(f"{', '.join(of_search)}: {_line(capacity)}")
    return lines


def _line(capacity: Capacity) -> str:
    if capacity.state is State.NOT_APPLICABLE:
        return _not_applicable(capacity)
    amount = f" ({payload_words(capacity.sustained)})" if capacity.sustained else ""
    above = (
        f", but not {load_words(capacity.not_sustained, capacity.sought)} ({_limits(capacity) or ABSENT})"
        if capacity.not_sustained
        else ""
    )
    knee = f", knee at {load_words(capacity.knee, capacity.sought)}" if capacity.knee else ""
    curve = f", half sustained {half_words(capacity)}" if isinstance(capacity.half_sustained, Threshold) else ""
    return f"{sustained_words(capacity)}{amount}{above}{knee}{curve}, {plural(capacity.n_trials, 'trial')}"


def settings(capacities: Sequence[Capacity]) -> dict[str, str]:
    """By experiment: the message, and what else tells searches apart."""
    experiments = [capacity.experiment for capacity in capacities]
    varying = distinguishing_factors(capacities)
    fixed = {capacity.experiment.id: "size" if capacity.sought is Sought.RATE else "rate" for capacity in capacities}
    return {
        experiment.id: ", ".join(
            [
                experiment.workload.replace("_", " "),
                experiment.factors[fixed[experiment.id]],
                *(f"{name} {experiment.factors[name]}" for name in varying if name in experiment.factors),
            ]
        )
        for experiment in experiments
    }


def distinguishing_factors(capacities: Sequence[Capacity]) -> list[str]:
    """The factors that tell searches apart and that no label has."""
    varying = varying_factors([capacity.experiment for capacity in capacities])
    return [name for name in varying if name not in SENT_FACTORS and not is_of_candidate(name)]


def as_data(capacities: Sequence[Capacity]) -> list[dict[str, object]]:
    """Every search with its curve, for a program to read."""
    return [
        {
            "experiments": {
                name: text for name, text in capacity.experiment.factors.items() if name != capacity.sought
            },
            "sought": capacity.sought.value,
            "state": capacity.state.value,
            "carried": _load(capacity.sustained),
            "not_carried": _load(capacity.not_sustained),
            "limits": [limit.value for limit in capacity.limits],
            "knee": _load(capacity.knee),
            "half_carried": _half_carried(capacity),
            "n_trials": capacity.n_trials,
            "searches": [
                {
                    "state": search.state.value,
                    "carried": _load(search.sustained),
                    "not_carried": _load(search.not_sustained),
                }
                for search in capacity.searches
            ],
            "points": [{**asdict(point), "load": _load(point.load)} for point in capacity.points],
        }
        for capacity in capacities
    ]


def _half_carried(capacity: Capacity) -> dict[str, object]:
    """In hertz or bytes, null where an end is open; or the reason why there is none."""
    threshold = capacity.half_sustained
    if not isinstance(threshold, Threshold):
        return {"value": None, "reason": threshold.reason}
    open_high = threshold.high == math.inf
    return {
        **asdict(threshold),
        "low": threshold.low or None,
        "high": None if open_high else threshold.high,
        "reason": "",
    }


def _load(load: Load | None) -> dict[str, float] | None:
    return None if load is None else {**asdict(load), "payload_bits_per_s": 8 * load.payload_bytes_per_s}
