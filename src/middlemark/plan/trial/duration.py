"""How long trials take that go well: their windows, and what starting, measuring links and waiting cost beside them.

The costs were measured in stored runs on two cores. It runs and measures nothing: `campaign.progress` learns the fixed
cost of the trials under way in place of the one here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from middlemark.plan.experiment import Experiment
from middlemark.plan.patterns import Unthrottled
from middlemark.plan.streams import Stream
from middlemark.plan.topology.network import Link
from middlemark.plan.trial.trial import Trial
from middlemark.suite import Congestion, DeploymentKind
from middlemark.suite.topology.impairment import SHARES

FIXED_COST_NS = 500_000_000
"""Start, discovery, closing and storing of one trial: a run of ten middlewares on two cores took 0.35 s a trial."""

HOST_NS = 300_000_000
"""Each host beyond two: trials over one router took 0.1 to 0.8 s more than between two hosts, over two 0.5 to 1.1 s."""

CONTAINERS_NS = 700_000_000
"""Starting and ending containers: 0.4 to 0.9 s more than the same trials on bare metal took in the mean."""

WAITED_ROUND_TRIPS = 17
"""Measuring and starting over a slow link: with 400 ms for a round trip, trials took 6.8 s more than without."""

PROBE_NS, PROBED_SHARES_NS = 100_000_000, 400_000_000
"""What measuring a link that is not a plain wire takes: its round trips, and shares of frames, both ways.

`testbed.network.probe` measures it before each trial and after it, one link after the other.
"""

PROBED_RATE_NS, PROBED_FRAMES = 50_000_000, 150
"""What measuring its rate takes each way: so long, and at least as long as so many frames."""


def campaign_duration_ns(trials: Iterable[Trial], *, fixed_cost_ns: int = FIXED_COST_NS) -> int:
    """All trials, one after another."""
    return sum(trial_duration_ns(trial, fixed_cost_ns=fixed_cost_ns) for trial in trials)


def trial_duration_ns(trial: Trial, *, fixed_cost_ns: int = FIXED_COST_NS) -> int:
    """One trial that goes well: no waiting for deadlines, each link as requested at once, lost only what may be."""
    experiment = trial.experiment
    windows = experiment.windows
    measured_ns = windows.warm_up_ns + windows.window_ns + _drain_ns(experiment)
    return fixed_cost_ns + _start_ns(experiment) + _links_ns(experiment.links) + measured_ns


def _start_ns(experiment: Experiment) -> int:
    is_contained = experiment.conditions.deployment.deployment is not DeploymentKind.BARE_METAL
    return HOST_NS * max(len(experiment.hosts) - 2, 0) + CONTAINERS_NS * is_contained


def _drain_ns(experiment: Experiment) -> int:
    """What is lost is waited for until the drain ends, and so is what a link has no room for; what arrives ends it.

    The drain begins when publishers have sent everything; those that block have waited for the link until then.
    """
    backlog_ns = _backlog_ns(experiment)
    is_waited_for = any(map(_loses, experiment.streams)) or backlog_ns > 0
    return backlog_ns + experiment.windows.drain_ns if is_waited_for else 0


def _loses(stream: Stream) -> bool:
    return isinstance(stream.pattern, Unthrottled) and stream.qos.congestion is Congestion.DROP


def _backlog_ns(experiment: Experiment) -> int:
    """How long the busiest link transmits after the window what the schedule has for it within."""
    window_ns = experiment.windows.window_ns
    sent_bits, received_bits = _scheduled_bits(experiment)
    transmission_ns = [
        bits[link.host] * 1_000_000_000 // direction.rate_bits_per_s
        for link in experiment.links
        for direction, bits in ((link.outgoing, sent_bits), (link.incoming, received_bits))
        if direction.rate_bits_per_s
    ]
    return max(0, max(transmission_ns, default=0) - window_ns)


def _scheduled_bits(experiment: Experiment) -> tuple[Counter[str], Counter[str]]:
    """By host: what the schedule has it send to other hosts within the window, and receive from them."""
    host_of = {application.name: application.host for application in experiment.applications}
    sent, received = Counter[str](), Counter[str]()
    for stream in experiment.streams:
        if not stream.pattern.is_scheduled:
            continue
        of_each = 8 * round(stream.mean_bytes) * stream.most_messages(experiment.windows.window_ns)
        for publisher, subscriber in stream.pairs():
            ends = host_of[stream.publishers[publisher]], host_of[stream.subscribers[subscriber]]
            if ends[0] != ends[1]:
                sent[ends[0]] += of_each
                received[ends[1]] += of_each
    return sent, received


def _links_ns(links: Iterable[Link]) -> int:
    shaped = [link for link in links if not link.is_plain]
    slowest_ns = max((link.outgoing.delay_ns + link.incoming.delay_ns for link in shaped), default=0)
    return 2 * sum(map(_probed_ns, shaped)) + WAITED_ROUND_TRIPS * slowest_ns


def _probed_ns(link: Link) -> int:
    directions = (link.outgoing, link.incoming)
    rates = [direction.rate_bits_per_s for direction in directions if direction.rate_bits_per_s]
    rate_ns = max(PROBED_RATE_NS, PROBED_FRAMES * 8 * link.mtu_bytes * 1_000_000_000 // min(rates)) if rates else 0
    has_shares = any(getattr(direction, effect.field) for direction in directions for effect in SHARES)
    return PROBE_NS + len(directions) * rate_ns + has_shares * PROBED_SHARES_NS
