"""The forms that reports and exports take, with what each holds, apart from what makes them: help comes at once.

Every form has its one place in `data` or in `figures`, which make them.
"""

from enum import StrEnum


class ExportFormat(StrEnum):
    """What a run can be exported as."""

    HGRM = "hgrm"
    PARQUET = "parquet"
    CSV = "csv"
    JSON = "json"
    OPENMETRICS = "openmetrics"

    @property
    def holds(self) -> str:
        """What is in its files, in a few words."""
        match self:
            case ExportFormat.HGRM:
                return "HdrHistogram's percentile tables"
            case ExportFormat.PARQUET | ExportFormat.CSV | ExportFormat.JSON:
                return "trials, metrics and estimates"
            case ExportFormat.OPENMETRICS:
                return "the estimates"


class ReportFormat(StrEnum):
    """The page, or what its figures or its tables become."""

    HTML = "html"
    PNG = "png"
    SVG = "svg"
    PDF = "pdf"
    LATEX = "latex"
    MARKDOWN = "markdown"
    CSV = "csv"

    @property
    def holds(self) -> str:
        """What is in its files, in a few words."""
        match self:
            case ReportFormat.HTML:
                return "the page"
            case ReportFormat.PNG | ReportFormat.SVG | ReportFormat.PDF:
                return "each chart"
            case ReportFormat.LATEX | ReportFormat.MARKDOWN | ReportFormat.CSV:
                return "each table"


def format_help(kinds: type[ExportFormat | ReportFormat]) -> str:
    """Every format with what it holds, for the help: `png, svg, pdf: each chart; …`."""
    alike: dict[str, list[str]] = {}
    for kind in kinds:
        alike.setdefault(kind.holds, []).append(kind.value)
    return "; ".join(f"{', '.join(names)}: {content}" for content, names in alike.items()) + "."
