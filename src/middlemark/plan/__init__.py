"""Pure: a suite to experiments, experiments to trials in random interleaved order, and the outcomes of a trial.

    Suite ── expand ──> Experiment … ── only ──> Experiment … ── order_trials ──> Trial …  ──(campaign)──> Outcome

It starts nothing and reads nothing; `campaign` runs what is planned here.
"""

from middlemark.plan.application import Application, Endpoint, Pair
from middlemark.plan.demand import experiments_of, observed, topology_of
from middlemark.plan.experiment import (
    CaptureBounds,
    Conditions,
    Experiment,
    PlannedFault,
    Side,
    Windows,
)
from middlemark.plan.factors import varying_factors
from middlemark.plan.matrix import expand, is_selected, on_both_sides, only
from middlemark.plan.patterns import (
    Burst,
    ClosedRequests,
    Computed,
    OpenRequests,
    Periodic,
    PingPong,
    Requests,
    StreamPattern,
    Unthrottled,
)
from middlemark.plan.schedule import (
    Watched,
    next_block,
    order_trials,
    plan_trials,
    replanned,
    watched,
)
from middlemark.plan.streams import (
    Chain,
    KeepAll,
    KeepLast,
    Node,
    NodeInput,
    Recorded,
    Stream,
    StreamQos,
)
from middlemark.plan.topology.cpus import loaded_hosts, meeting_cpus, service_cpus, share_cpus
from middlemark.plan.trial.duration import FIXED_COST_NS, campaign_duration_ns, trial_duration_ns
from middlemark.plan.trial.outcome import (
    Caution,
    Failed,
    Invalid,
    InvalidKind,
    InvalidReason,
    MissingPath,
    NoCommunication,
    NotApplicable,
    Outcome,
    TimedOut,
    Valid,
    WarningKind,
)
from middlemark.plan.trial.trial import SearchStep, SharedExperiments, Trial

__all__ = [
    "FIXED_COST_NS",
    "Application",
    "Burst",
    "CaptureBounds",
    "Caution",
    "Chain",
    "ClosedRequests",
    "Computed",
    "Conditions",
    "Endpoint",
    "Experiment",
    "Failed",
    "Invalid",
    "InvalidKind",
    "InvalidReason",
    "KeepAll",
    "KeepLast",
    "MissingPath",
    "NoCommunication",
    "Node",
    "NodeInput",
    "NotApplicable",
    "OpenRequests",
    "Outcome",
    "Pair",
    "Periodic",
    "PingPong",
    "PlannedFault",
    "Recorded",
    "Requests",
    "SearchStep",
    "SharedExperiments",
    "Side",
    "Stream",
    "StreamPattern",
    "StreamQos",
    "TimedOut",
    "Trial",
    "Unthrottled",
    "Valid",
    "WarningKind",
    "Watched",
    "Windows",
    "campaign_duration_ns",
    "expand",
    "experiments_of",
    "is_selected",
    "loaded_hosts",
    "meeting_cpus",
    "next_block",
    "observed",
    "on_both_sides",
    "only",
    "order_trials",
    "plan_trials",
    "replanned",
    "service_cpus",
    "share_cpus",
    "topology_of",
    "trial_duration_ns",
    "varying_factors",
    "watched",
]
