"""The README's suite is the matrix that it says."""

from middlemark.plan import expand
from middlemark.suite import parse_suite
from pages import ROOT, blocks


def test_the_suite_of_the_readme_expands_to_its_whole_matrix() -> None:
    (example,) = blocks(ROOT / "README.md", "yaml")
    experiments = expand(parse_suite(example, file="README.md"), available=["cyclonedds", "fastdds", "zenoh"])
    assert len(experiments) == 3 * 2 * 2 * 2
