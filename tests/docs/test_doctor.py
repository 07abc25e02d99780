"""The page on the doctor explains each row that the doctor shows."""

import re

from middlemark.report.elements.formatting import fact as words
from middlemark.testbed import capabilities
from middlemark.testbed.hosts import container
from middlemark.testbed.machine import readiness
from pages import text


def test_every_row_is_explained() -> None:
    first_cells = re.findall(r"^\| ([a-z][^|]*) \|", text("background/doctor"), re.MULTILINE)
    explained = {row for cell in first_cells for row in cell.split(", ")}
    facts = [*readiness.facts(), *capabilities.facts(), container.containers_fact()]
    assert {words(fact.name, fact.value)[0] for fact in facts} <= explained
