"""A library as people read it: name, version, and how old that version is where the system's packages tell; no more."""

from datetime import date

from middlemark.results.manifest import Library
from middlemark.worker import contract

DAYS_OF_A_YEAR = 365.25


def library_words(library: Library | contract.Library, on: date) -> str:
    """`fastrtps 2.9.1 of 2023-01-31, 3.8 years old`."""
    named = f"{library.name} {library.version}"
    if library.released is None:
        return named
    years = (on - date.fromisoformat(library.released)).days / DAYS_OF_A_YEAR
    return f"{named} of {library.released}, {years:.1f} years old"
