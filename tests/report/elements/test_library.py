"""A library is shown with its age where the system's package tells since when there is its version."""

from datetime import date

import pytest
from pydantic import ValidationError

from middlemark.report.elements.library import library_words
from middlemark.results.manifest import Library


def test_a_version_is_as_old_as_the_package_says() -> None:
    library = Library(name="fastrtps", version="2.9.1", origin="system", released="2023-01-31")
    assert library_words(library, date(2026, 11, 23)) == "fastrtps 2.9.1 of 2023-01-31, 3.8 years old"


def test_what_is_not_the_systems_has_no_age() -> None:
    assert library_words(Library(name="zenoh", version="1.10.2", origin="crate"), date(2026, 1, 1)) == "zenoh 1.10.2"


def test_a_day_that_is_none_is_refused_when_a_run_is_read() -> None:
    with pytest.raises(ValidationError, match="released"):
        Library(name="fastrtps", version="2.9.1", origin="system", released="last year")
