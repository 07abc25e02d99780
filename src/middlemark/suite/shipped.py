"""The suites that ship with Middlemark, by name.

They are YAML files beside this module, read through the same models as a user's; it changes none of them.
"""

from importlib import resources

from middlemark.suite.load import parse_suite
from middlemark.suite.suite import Suite

_HERE = resources.files("middlemark.suite")


def shipped_suite_names() -> tuple[str, ...]:
    """The names of the suites that ship."""
    return tuple(sorted(f.name.removesuffix(".yaml") for f in (_HERE / "suites").iterdir() if f.name.endswith(".yaml")))


def shipped_suite_text(name: str) -> str:
    """The YAML of a suite that ships."""
    return (_HERE / "suites" / f"{name}.yaml").read_text(encoding="utf-8")


def shipped_suite(name: str) -> Suite:
    """A suite that ships."""
    return parse_suite(shipped_suite_text(name), file=f"{name}.yaml")
