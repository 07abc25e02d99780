"""Reads a suite from text; the first mistake becomes an error with its line and what is allowed.

`yaml.document` reads YAML, the models validate it, and `yaml.model` writes the error messages. Only the named file, the
files that it names, and shipped files are read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from middlemark.errors import SuiteError, UsageError
from middlemark.suite.claims.claim import Claim
from middlemark.suite.claims.parser import Claims, parse_claim
from middlemark.suite.conditions import Timeline
from middlemark.suite.demand.demand import Demand
from middlemark.suite.suite import Suite
from middlemark.suite.topology.catalog import COUNTED_TOPOLOGIES, TopologyChoice, is_counted
from middlemark.suite.topology.inventory import Inventory, on_machines
from middlemark.suite.topology.topology import Topology
from middlemark.suite.workload.workload import Workload
from middlemark.suite.yaml.document import Document, read_document
from middlemark.suite.yaml.model import Many, SuiteFiles, closest_first, explain, within

_SHIPPED = resources.files("middlemark.suite") / "shipped"
_T = TypeVar("_T")


@dataclass(frozen=True)
class LoadedSuite:
    """A suite with its text."""

    file: str
    text: str
    suite: Suite
    files: Mapping[str, str] = field(default_factory=dict)
    """The texts of the files that it names."""


@dataclass(frozen=True)
class LoadedDemand:
    """A demand with its text."""

    file: str
    text: str
    demand: Demand
    files: Mapping[str, str] = field(default_factory=dict)
    """The texts of the files that it names."""


def load_demand(name_or_file: str) -> LoadedDemand:
    """The demand of an application: a shipped one by its name, or a file."""
    if name_or_file in shipped_demand_names():
        shipped = _SHIPPED / "applications" / f"{name_or_file}.yaml"
        file, text, suite_files = shipped.name, shipped.read_text(encoding="utf-8"), SuiteFiles()
    else:
        file, text = name_or_file, _read_file(name_or_file, "a shipped application", shipped_demand_names())
        suite_files = SuiteFiles(Path(file).parent)
    return LoadedDemand(
        file=file, text=text, demand=parse_demand(text, file=file, suite_files=suite_files), files=suite_files.texts
    )


def shipped_demand_names() -> tuple[str, ...]:
    """The names of the applications that ship."""
    files = (entry.name for entry in (_SHIPPED / "applications").iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in files if name.endswith(".yaml")))


def parse_demand(text: str, *, file: str, suite_files: SuiteFiles | None = None) -> Demand:
    """Reads a demand from text; recordings are read where their folder is known."""
    return _validate(
        TypeAdapter(Demand), read_document(text, file=file), _context() | {"suite_files": suite_files}, _DEMAND
    )


def parse_given(text: str, *, file: str, files: Mapping[str, str] | None = None) -> Suite | Demand:
    """Reads the text that a run was given, a suite's or a demand's; with `files`, from the files that the run kept."""
    suite_files = None if files is None else SuiteFiles.stored(files)
    return (parse_demand if _is_demand(text, file) else parse_suite)(text, file=file, suite_files=suite_files)


def parse_given_demand(text: str, *, file: str) -> Demand | None:
    """The demand that a run was given; None for a suite."""
    return parse_demand(text, file=file) if _is_demand(text, file) else None


def _is_demand(text: str, file: str) -> bool:
    data = read_document(text, file=file).data
    return isinstance(data, dict) and "application" in data and "suite" not in data


def load_suite(name_or_file: str) -> LoadedSuite:
    """A shipped suite by its name, or a file."""
    if name_or_file in shipped_suite_names():
        shipped = _shipped_suite_files()[name_or_file]
        file, text = shipped.name, shipped.read_text(encoding="utf-8")
        suite_files = SuiteFiles()
    else:
        file, text = name_or_file, _read_file(name_or_file, "a shipped suite", shipped_suite_names())
        suite_files = SuiteFiles(Path(file).parent)
    return LoadedSuite(
        file=file, text=text, suite=parse_suite(text, file=file, suite_files=suite_files), files=suite_files.texts
    )


def load_topologies(name_or_file: str) -> tuple[Topology, ...]:
    """A topology by its name; or the topologies of a shipped suite, or of a file with a suite or only topologies."""
    shipped = shipped_topologies()
    if name_or_file in shipped or is_counted(name_or_file):
        choices: tuple[TopologyChoice, ...] = (TopologyChoice(topology=name_or_file),)
    elif name_or_file in shipped_suite_names():
        choices = load_suite(name_or_file).suite.topologies
    else:
        choices = _topologies_of(name_or_file)
    return tuple(choice.over(shipped) for choice in choices)


def _topologies_of(file: str) -> tuple[TopologyChoice, ...]:
    names = [*COUNTED_TOPOLOGIES, *shipped_topologies(), *shipped_suite_names()]
    text = _read_file(file, "a topology, a shipped suite", names)
    document = read_document(text, file=file)
    if isinstance(document.data, dict) and "suite" in document.data:
        return parse_suite(text, file=file, suite_files=SuiteFiles(Path(file).parent)).topologies
    context = _context() | {"suite_files": SuiteFiles(Path(file).parent)}
    return _validate(TypeAdapter(Many[TopologyChoice]), document, context)


def load_inventory(file: str) -> Inventory:
    """The machines of a lab, from a file."""
    document = read_document(_read_file(file, "an inventory of machines", ()), file=file)
    return _validate(TypeAdapter(Inventory), document, {}, "`machines`, a list with `ssh: user@address` each")


def suite_on_machines(loaded: LoadedSuite, inventory: Inventory) -> tuple[LoadedSuite, dict[str, str]]:
    """A suite with machines for its hosts, and by topology why one is left out; a UsageError where none is left."""
    choices, shipped = loaded.suite.topologies, shipped_topologies()
    text, left_out = on_machines(loaded.text, choices, inventory, shipped, file=loaded.file)
    if text is None:
        reasons = "; ".join(f"{topology}: {reason}" for topology, reason in left_out.items())
        raise UsageError(reasons, remedy="name more machines in the inventory")
    suite = parse_suite(text, file=loaded.file, suite_files=SuiteFiles.stored(loaded.files))
    return replace(loaded, text=text, suite=suite), left_out


def load_claims(file: str) -> tuple[Claim, ...]:
    """The claims of a file: of a suite, or of a list of claims."""
    text = _read_file(file, "a suite", shipped_suite_names())
    document = read_document(text, file=file)
    if isinstance(document.data, dict) and "suite" in document.data:
        return parse_suite(text, file=file, suite_files=SuiteFiles(Path(file).parent)).claims
    return _validate(TypeAdapter(Claims), document, {}).claims


def parse_claims(texts: Sequence[str]) -> tuple[Claim, ...]:
    """Reads claims from the command line."""
    return tuple(_one_claim(text) for text in texts)


def _one_claim(text: str) -> Claim:
    try:
        return parse_claim(text)
    except PydanticCustomError as error:
        facts = error.context or {}
        pointer = f"  {text}\n  {' ' * facts['character']}^"
        raise UsageError(f"{facts['problem']}\n{pointer}", remedy=f"allowed: {facts['allowed']}") from error


def shipped_suite_names() -> tuple[str, ...]:
    """The names of the suites that ship."""
    return tuple(sorted(_shipped_suite_files()))


@cache
def _shipped_suite_files() -> dict[str, Traversable]:
    """The files of the suites that ship, by name, in whichever folder they are."""
    files: dict[str, Traversable] = {}
    folders = [_SHIPPED / "suites"]
    while folders:
        for entry in folders.pop().iterdir():
            if entry.is_dir():
                folders.append(entry)
            elif entry.name.endswith(".yaml"):
                files[entry.name.removesuffix(".yaml")] = entry
    return files


def parse_suite(text: str, *, file: str, suite_files: SuiteFiles | None = None) -> Suite:
    """Reads a suite from text; traces are read where their folder is known."""
    return _validate(TypeAdapter(Suite), read_document(text, file=file), _context() | {"suite_files": suite_files})


@cache
def shipped_workloads() -> dict[str, Workload]:
    """The shipped workloads, in their order."""
    text = (_SHIPPED / "workloads.yaml").read_text(encoding="utf-8")
    document = read_document(text, file="workloads.yaml")
    context: dict[str, object] = {"shipped_workloads": {}, "shipped_timelines": shipped_timelines()}
    workloads = _validate(TypeAdapter(tuple[Workload, ...]), document, context)
    return {workload.workload: workload for workload in workloads}


@cache
def shipped_topologies() -> dict[str, Topology]:
    """The shipped topologies besides the counted ones, in their order."""
    text = (_SHIPPED / "topologies.yaml").read_text(encoding="utf-8")
    document = read_document(text, file="topologies.yaml")
    choices = _validate(TypeAdapter(tuple[TopologyChoice, ...]), document, {"shipped_topologies": {}})
    return {choice.topology: choice.over({}) for choice in choices}


@cache
def shipped_timelines() -> dict[str, Timeline]:
    """The shipped timelines of faults, in their order."""
    text = (_SHIPPED / "timelines.yaml").read_text(encoding="utf-8")
    document = read_document(text, file="timelines.yaml")
    timelines = _validate(TypeAdapter(tuple[Timeline, ...]), document, {})
    return {timeline.timeline: timeline for timeline in timelines}


def _context() -> dict[str, object]:
    """The shipped definitions that a suite may use by name."""
    return {
        "shipped_workloads": shipped_workloads(),
        "shipped_topologies": shipped_topologies(),
        "shipped_timelines": shipped_timelines(),
    }


_SUITE = "a suite: `suite`, `middlewares`, `workloads` and more"
_DEMAND = "an application: `application`, `processes`, `streams` and more"


def _validate(adapter: TypeAdapter[_T], document: Document, context: dict[str, object], of_what: str = _SUITE) -> _T:
    if document.data is None:
        raise document.error("the file is empty", allowed=of_what)
    try:
        return adapter.validate_python(document.data, context=context)
    except ValidationError as error:
        first = error.errors()[0]
        raise document.error(*explain(first), within=within(first)) from error


def _read_file(file: str, otherwise: str, names: Sequence[str]) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SuiteError("this is not UTF-8 text", file=file, allowed="a YAML file") from error
    except (FileNotFoundError, ValueError) as error:
        remedy = f"there are: {closest_first(file, names)}" if names else "name an existing file"
        raise UsageError(f"`{file}` is neither {otherwise} nor a file", remedy=remedy) from error
    except OSError as error:
        raise SuiteError(f"it can't be read: {error.strerror}", file=file) from error
