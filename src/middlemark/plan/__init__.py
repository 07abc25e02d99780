"""Pure: a suite to experiments, experiments to trials in random interleaved order, and the outcomes of a trial.

    Suite ── expand ──> Experiment … ── only ──> Experiment … ── order_trials ──> Trial …  ──(campaign)──> Outcome

It starts nothing and reads nothing; `campaign` runs what is planned here.
"""

from middlemark.plan.cpus import loaded_hosts, share_cpus
from middlemark.plan.demand import experiments_of, observed, topology_of
from middlemark.plan.duration import FIXED_COST_NS, campaign_duration_ns, trial_duration_ns
from middlemark.plan.expand import expand
from middlemark.plan.experiment import (
    Application,
    CaptureBounds,
    Conditions,
    Endpoint,
    Experiment,
    Side,
    Windows,
    varying_factors,
)
from middlemark.plan.node import Chain, Node, NodeInput
from middlemark.plan.only import only
from middlemark.plan.outcome import (
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
from middlemark.plan.replan import replanned
from middlemark.plan.selected import is_selected
from middlemark.plan.side import sided
from middlemark.plan.stream import (
    Burst,
    Computed,
    KeepAll,
    KeepLast,
    Periodic,
    PingPong,
    Recorded,
    Stream,
    StreamPattern,
    StreamQos,
    Unthrottled,
)
from middlemark.plan.timeline import Event
from middlemark.plan.trial import Trial, next_block, order_trials, plan_trials

__all__ = [
    "FIXED_COST_NS",
    "Application",
    "Burst",
    "CaptureBounds",
    "Caution",
    "Chain",
    "Computed",
    "Conditions",
    "Endpoint",
    "Event",
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
    "Outcome",
    "Periodic",
    "PingPong",
    "Recorded",
    "Side",
    "Stream",
    "StreamPattern",
    "StreamQos",
    "TimedOut",
    "Trial",
    "Unthrottled",
    "Valid",
    "WarningKind",
    "Windows",
    "campaign_duration_ns",
    "expand",
    "experiments_of",
    "is_selected",
    "loaded_hosts",
    "next_block",
    "observed",
    "only",
    "order_trials",
    "plan_trials",
    "replanned",
    "share_cpus",
    "sided",
    "topology_of",
    "trial_duration_ns",
    "varying_factors",
]
