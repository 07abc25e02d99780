"""What the README shows is true: its suite loads and expands."""

import re
from pathlib import Path

from middlemark.plan import expand
from middlemark.suite import parse_suite

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_suite_of_the_readme_expands_to_its_whole_matrix() -> None:
    example = re.search(r"```yaml\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    suite = parse_suite(example[1], file="README.md")
    experiments = expand(suite, available=["cyclonedds", "fastdds", "zenoh"])
    assert len(experiments) == 3 * 2 * 2 * 2
