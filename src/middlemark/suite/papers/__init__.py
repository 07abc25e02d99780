"""Papers: published evaluations with their suites, their values and their findings, in our own words.

`load` reads what ships in `suite/shipped/papers`, one folder a paper.
"""

from middlemark.suite.papers.load import LoadedPaper, load_paper, paper_of, read_paper, shipped_paper_names
from middlemark.suite.papers.paper import (
    Change,
    Equipment,
    Explanation,
    Extent,
    Feature,
    Finding,
    Otherwise,
    Paper,
    PaperSuite,
    PublishedTable,
    PublishedValue,
    read_values,
)

__all__ = [
    "Change",
    "Equipment",
    "Explanation",
    "Extent",
    "Feature",
    "Finding",
    "LoadedPaper",
    "Otherwise",
    "Paper",
    "PaperSuite",
    "PublishedTable",
    "PublishedValue",
    "load_paper",
    "paper_of",
    "read_paper",
    "read_values",
    "shipped_paper_names",
]
