"""WHAT is measured: the models of suite, workload, QoS, topology and condition, and how they are read from YAML.

    suite ── middlewares × profiles × options × workloads × sizes × rates × QoS × topologies × conditions − exclude

It plans and runs nothing; `plan` makes experiments and trials of a suite.
"""

from middlemark.suite.condition import Conditions, CpuRule, Cpus, Scheduling
from middlemark.suite.exclude import Exclusion
from middlemark.suite.factor import factor_text, respelled
from middlemark.suite.load import LoadedSuite, load_suite, parse_suite, shipped_suite_names, shipped_workloads
from middlemark.suite.model import Model
from middlemark.suite.option import OptionValue
from middlemark.suite.qos import Congestion, Durability, History, Qos, Reliability
from middlemark.suite.quantity import DURATION, RATE, SHARE, SIZE
from middlemark.suite.suite import ALL_MIDDLEWARES, MiddlewareChoice, Suite
from middlemark.suite.topology import (
    SHIPPED_TOPOLOGIES,
    Application,
    Host,
    HostKind,
    Placement,
    Role,
    Topology,
    TopologyChoice,
)
from middlemark.suite.windows import Disturbance, Recording, Windows
from middlemark.suite.workload import Arrival, Pattern, Workload

__all__ = [
    "ALL_MIDDLEWARES",
    "DURATION",
    "RATE",
    "SHARE",
    "SHIPPED_TOPOLOGIES",
    "SIZE",
    "Application",
    "Arrival",
    "Conditions",
    "Congestion",
    "CpuRule",
    "Cpus",
    "Disturbance",
    "Durability",
    "Exclusion",
    "History",
    "Host",
    "HostKind",
    "LoadedSuite",
    "MiddlewareChoice",
    "Model",
    "OptionValue",
    "Pattern",
    "Placement",
    "Qos",
    "Recording",
    "Reliability",
    "Role",
    "Scheduling",
    "Suite",
    "Topology",
    "TopologyChoice",
    "Windows",
    "Workload",
    "factor_text",
    "load_suite",
    "parse_suite",
    "respelled",
    "shipped_suite_names",
    "shipped_workloads",
]
