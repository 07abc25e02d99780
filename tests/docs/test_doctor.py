"""The page on the doctor explains each row that the doctor shows."""

import re

from middlemark.cli.doctor import _shown
from middlemark.testbed import ability, container_engine, machine
from pages import text


def test_every_row_is_explained() -> None:
    first_cells = re.findall(r"^\| ([a-z][^|]*) \|", text("doctor"), re.MULTILINE)
    explained = {row for cell in first_cells for row in cell.split(", ")}
    facts = [*machine.facts(), *ability.facts(), container_engine.fact()]
    assert {_shown(fact)[0] for fact in facts} <= explained
