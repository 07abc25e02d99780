"""All that is known of a run as one document for programs: what `middlemark report --json` prints.

`data` writes files of a run's distributions and metrics; here are its conclusions and estimates.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.compare.scaling import Growth, Scaling
from middlemark.analysis.dataframes import summary_table
from middlemark.analysis.decisions.claims import judge_own_claims
from middlemark.analysis.run import RunFindings
from middlemark.analysis.verdicts.difference import Difference
from middlemark.report.conclusions.claims import as_data as claims_data
from middlemark.report.conclusions.comparison import across_data
from middlemark.report.conclusions.precision import as_data as spread_data
from middlemark.report.conclusions.recommendation import recommendation, recommendation_data
from middlemark.report.conclusions.warnings import uncounted_data, warnings_data
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.traffic.capacity import as_data as capacities_data


def run_data(findings: RunFindings) -> dict[str, Any]:
    """Its warnings, conclusions and estimates, and what can't be read."""
    recommended = recommendation(findings)
    series_of = series_by_experiment(findings.manifest, (candidate.experiment for candidate in findings.experiments))
    return {
        "warnings": warnings_data(findings, series_of),
        "not_counted": uncounted_data(findings, series_of),
        "recommendation": None if recommended is None else recommendation_data(recommended),
        "rankings": [_ranking(comparison) for comparison in findings.comparisons],
        "scaling_factors": _scalings(findings.scalings),
        "growth": _growths(findings.growths),
        "spread_over_trials": spread_data(findings),
        "capacities": capacities_data(findings.capacities),
        "widths": [width.model_dump(mode="json") for width in findings.manifest.widths],
        "claims": claims_data(judge_own_claims(findings)),
        "estimates": summary_table(findings).to_dicts(),
        "damaged": {damage.trial: damage.problem for damage in findings.damaged},
        "missing": findings.missing,
    }


def _machines(to_best: Difference | None) -> dict[str, Any] | None:
    """Of a run over a fleet: the ratio to the best on each machine."""
    return None if to_best is None or to_best.across is None else across_data(to_best.across)


def _ranking(comparison: Comparison) -> dict[str, Any]:
    return {
        "setting": dict(comparison.setting.factors),
        "stream": comparison.setting.stream,
        "ranked_by": comparison.criterion.metric,
        "places": [
            {
                "experiment": place.key,
                "best_rank": place.first,
                "worst_rank": place.last,
                "ties_with": place.tied_with,
                "machines": _machines(comparison.to_best.get(place.key)),
            }
            for place in comparison.places.values()
        ],
        "not_ranked": dict(comparison.unranked),
    }


def _scalings(scalings: Iterable[Scaling]) -> list[dict[str, Any]]:
    return [
        {
            "experiments": dict(scaling.factors),
            "stream": scaling.stream,
            "metric": scaling.metric,
            "sizes_bytes": scaling.sizes_bytes,
            "slope_ns_per_byte": asdict(scaling.slope_ns_per_byte),
            "base_ns": asdict(scaling.base_ns),
            "misfit_share": scaling.misfit_share,
        }
        for scaling in scalings
    ]


def _growths(growths: Iterable[Growth]) -> list[dict[str, Any]]:
    return [
        {
            "experiments": dict(growth.factors),
            "over": growth.over,
            "metric": growth.metric.stored_name,
            "values": {
                place: None if (estimate := growth.estimate(place)) is None else asdict(estimate)
                for place in growth.points
            },
            "fit": None if growth.fit is None else asdict(growth.fit),
        }
        for growth in growths
    ]
