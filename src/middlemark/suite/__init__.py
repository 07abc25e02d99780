"""WHAT is measured: the models of suite, workload, QoS, topology and condition, and how they are read from YAML.

    suite ── middlewares × profiles × options × workloads × sizes × rates × QoS × topologies × conditions − exclude

It plans and runs nothing; `plan` makes experiments and trials of a suite.
"""

from middlemark.suite.claim import Bound, Claim, Comparison, Monotone, NoCommunication, NoLoss, Selection, Side
from middlemark.suite.claim_text import bound_of, parse_claim
from middlemark.suite.condition import (
    Conditions,
    ContainerIpc,
    ContainerNetwork,
    CpuLoad,
    CpuRule,
    Cpus,
    Deployment,
    DeploymentKind,
    LoadedHosts,
    Scheduling,
)
from middlemark.suite.demand import Demand, DemandProcess, StreamDemand, Within
from middlemark.suite.exclude import Exclusion
from middlemark.suite.factor import factor_text, magnitude, respelled
from middlemark.suite.fault import Action, Fault, Timeline
from middlemark.suite.figure_name import Dimension, figure_name
from middlemark.suite.impairment import Impairment
from middlemark.suite.link import LinkSettings
from middlemark.suite.load import (
    LoadedDemand,
    LoadedSuite,
    load_claims,
    load_demand,
    load_suite,
    load_topologies,
    parse_demand,
    parse_given,
    parse_given_demand,
    parse_suite,
    shipped_suite_names,
    shipped_timelines,
    shipped_topologies,
    shipped_workloads,
)
from middlemark.suite.mobility import Mobility, PathLoss
from middlemark.suite.model import Model
from middlemark.suite.observation import Capture, Observation
from middlemark.suite.option import NOT_SET, OptionValue
from middlemark.suite.pipeline import (
    DEFAULT_CAPACITY,
    Chain,
    Compute,
    Distribution,
    Node,
    NodeInput,
    NodeOutput,
    PipelineApplication,
    Readiness,
    Take,
    stream_between,
)
from middlemark.suite.qos import Congestion, Durability, History, Qos, Reliability
from middlemark.suite.quantity import BIT_RATE, DURATION, RATE, SHARE, SIZE
from middlemark.suite.recorded import RecordedMessages
from middlemark.suite.search import Search
from middlemark.suite.stop import Precision, Stop
from middlemark.suite.suite import ALL_MIDDLEWARES, MiddlewareChoice, Suite
from middlemark.suite.topology import Application, Host, HostKind, Link, Network, Placement, Role, Topology
from middlemark.suite.topology_choice import COUNTED_TOPOLOGIES, TopologyChoice
from middlemark.suite.trace import Step, Trace
from middlemark.suite.windows import Disturbance, Recording, Windows
from middlemark.suite.workload import Arrival, Pattern, Workload

__all__ = [
    "ALL_MIDDLEWARES",
    "BIT_RATE",
    "COUNTED_TOPOLOGIES",
    "DEFAULT_CAPACITY",
    "DURATION",
    "NOT_SET",
    "RATE",
    "SHARE",
    "SIZE",
    "Action",
    "Application",
    "Arrival",
    "Bound",
    "Capture",
    "Chain",
    "Claim",
    "Comparison",
    "Compute",
    "Conditions",
    "Congestion",
    "ContainerIpc",
    "ContainerNetwork",
    "CpuLoad",
    "CpuRule",
    "Cpus",
    "Demand",
    "DemandProcess",
    "Deployment",
    "DeploymentKind",
    "Dimension",
    "Distribution",
    "Disturbance",
    "Durability",
    "Exclusion",
    "Fault",
    "History",
    "Host",
    "HostKind",
    "Impairment",
    "Link",
    "LinkSettings",
    "LoadedDemand",
    "LoadedHosts",
    "LoadedSuite",
    "MiddlewareChoice",
    "Mobility",
    "Model",
    "Monotone",
    "Network",
    "NoCommunication",
    "NoLoss",
    "Node",
    "NodeInput",
    "NodeOutput",
    "Observation",
    "OptionValue",
    "PathLoss",
    "Pattern",
    "PipelineApplication",
    "Placement",
    "Precision",
    "Qos",
    "Readiness",
    "RecordedMessages",
    "Recording",
    "Reliability",
    "Role",
    "Scheduling",
    "Search",
    "Selection",
    "Side",
    "Step",
    "Stop",
    "StreamDemand",
    "Suite",
    "Take",
    "Timeline",
    "Topology",
    "TopologyChoice",
    "Trace",
    "Windows",
    "Within",
    "Workload",
    "bound_of",
    "factor_text",
    "figure_name",
    "load_claims",
    "load_demand",
    "load_suite",
    "load_topologies",
    "magnitude",
    "parse_claim",
    "parse_demand",
    "parse_given",
    "parse_given_demand",
    "parse_suite",
    "respelled",
    "shipped_suite_names",
    "shipped_timelines",
    "shipped_topologies",
    "shipped_workloads",
    "stream_between",
]
