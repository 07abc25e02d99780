"""The names of the forms that reports and exports take, apart from what makes them, so that help comes at once."""

from enum import StrEnum


class ExportFormat(StrEnum):
    """What a run can be exported as."""

    HGRM = "hgrm"
    PARQUET = "parquet"
    CSV = "csv"
    JSON = "json"
    OPENMETRICS = "openmetrics"


class ReportFormat(StrEnum):
    """The page, or what its figures or its tables become."""

    HTML = "html"
    PNG = "png"
    SVG = "svg"
    PDF = "pdf"
    LATEX = "latex"
    MARKDOWN = "markdown"
    CSV = "csv"
