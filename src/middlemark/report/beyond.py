"""The figures that stand on several settings: latency over size, overhead on the wire, latency over load, and chains.

It gathers what `scaling`, `wire`, `capacity` and `chain` draw, for the page and for files of their own.
"""

from __future__ import annotations

from collections.abc import Mapping

from altair.utils.schemapi import debug_mode

from middlemark.analysis.run import RunFindings
from middlemark.report.canvas import Chart
from middlemark.report.capacity_charts import capacity_charts
from middlemark.report.chain_charts import chains_overview
from middlemark.report.contender import Contender
from middlemark.report.scaling import scaling_charts
from middlemark.report.wire import overhead_chart


@debug_mode(False)  # as for those of one setting
def figures_beyond(findings: RunFindings, who: Mapping[str, Contender]) -> dict[str, list[Chart]]:
    """By the part of the page that they are in."""
    overhead = overhead_chart(findings.experiments, who)
    return {
        "capacity": capacity_charts(findings.capacities, findings.experiments, who),
        "scaling": scaling_charts(findings, who),
        "wire": [overhead] if overhead else [],
        "chains": chains_overview(findings.comparisons, who),
    }
