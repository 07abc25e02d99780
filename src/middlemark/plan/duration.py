"""How long trials take that go well: their windows, and what starting, measuring links and waiting cost beside them.

The costs were measured in stored runs on two cores. It runs and measures nothing: `campaign.progress` learns the fixed
cost of the trials under way in place of the one here.
"""

from __future__ import annotations

from collections.abc import Iterable

from middlemark.plan.experiment import Experiment
from middlemark.plan.patterns import Unthrottled
from middlemark.plan.streams import Stream
from middlemark.plan.topology.network import Link
from middlemark.plan.trial import Trial
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

PROBE_NS, PROBED_RATE_NS, PROBED_SHARES_NS = 100_000_000, 400_000_000, 400_000_000
"""What measuring a link that is not a plain wire takes: its round trips, a rate and shares of frames, both ways each.

`testbed.probe` measures it before each trial and after it, one link after the other.
"""


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
    """What is lost is waited for until the drain ends; what arrives ends it."""
    return experiment.windows.drain_ns if any(map(_loses, experiment.streams)) else 0


def _loses(stream: Stream) -> bool:
    return isinstance(stream.pattern, Unthrottled) and stream.qos.congestion is Congestion.DROP


def _links_ns(links: Iterable[Link]) -> int:
    shaped = [link for link in links if not link.is_plain]
    slowest_ns = max((link.outgoing.delay_ns + link.incoming.delay_ns for link in shaped), default=0)
    return 2 * sum(map(_probed_ns, shaped)) + WAITED_ROUND_TRIPS * slowest_ns


def _probed_ns(link: Link) -> int:
    directions = (link.outgoing, link.incoming)
    has_rate = any(direction.rate_bits_per_s for direction in directions)
    has_shares = any(getattr(direction, effect.field) for direction in directions for effect in SHARES)
    return PROBE_NS + has_rate * PROBED_RATE_NS + has_shares * PROBED_SHARES_NS
