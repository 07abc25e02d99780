"""Two runs compared, as `middlemark compare` does, with the geometric means over all settings."""

from __future__ import annotations

from functools import lru_cache

from starlette.requests import Request
from starlette.responses import Response

from middlemark.analysis.compare.metrics import compare_usual_metrics, over_settings
from middlemark.analysis.compare.pairing import pair_runs
from middlemark.analysis.run import RunFindings, analyse
from middlemark.analysis.verdicts.judge import Verdict
from middlemark.report.conclusions import over_settings as means
from middlemark.report.conclusions.comparison import pair_deliveries, row
from middlemark.report.elements.labels import setting_words
from middlemark.results.run_folder import RunFolder
from middlemark.serve.pages import Pages, listed_run

MARGIN = 0.05
KEPT_FINDINGS = 4


def comparison_page(pages: Pages, request: Request) -> Response:
    """The base and the head that an address names by their places in the list."""
    shelf = pages.library.look()
    base, head = (listed_run(shelf, request.query_params.get(side, "")) for side in ("base", "head"))
    pairs = pair_runs(findings(base.folder, base.stamp), findings(head.folder, head.stamp))
    compared = compare_usual_metrics(pairs.pairs, MARGIN)
    sections = [
        (
            pair,
            pair_deliveries(pair),
            [(row(comparison), comparison.decided.verdict) for comparison in compared if comparison.pair is pair],
        )
        for pair in pairs.pairs
    ]
    return pages.page(
        f"{head.name} compared with {base.name}",
        shelf,
        view="compare",
        base=base.name,
        head=head.name,
        sections=sections,
        setting_words=setting_words,
        means=means.means_table(over_settings(compared)),
        alone=pairs.alone,
        telling={Verdict.BETTER, Verdict.WORSE},
    )


@lru_cache(KEPT_FINDINGS)
def findings(folder: RunFolder, _stamp: str) -> RunFindings:
    """A run analysed; the last few are kept until they change."""
    return analyse(folder)
