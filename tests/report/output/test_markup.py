"""What Python writes of a page: sentences whose quantities stay on one line."""

import pytest

from middlemark.report.output.markup import marked


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("ratios within 5 % of 1", "ratios within 5\u00a0% of 1"),
        ("from 64 kB on with 2 hosts", "from 64\u00a0kB on with 2 hosts"),
        ("too few samples (n = 200)", "too few samples (n\u00a0=\u00a0200)"),
        ("of 3 searches", "of 3 searches"),
    ],
)
def test_no_line_ends_between_a_number_and_its_unit(text: str, kept: str) -> None:
    assert marked(text) == kept


def test_what_is_quoted_is_code_and_nothing_else_is_markup() -> None:
    assert marked("use `spin` <b>") == "use <code>spin</code> &lt;b&gt;"
