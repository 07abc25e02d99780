"""Names become paths within their folder only, and names of files whatever they hold."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from middlemark.errors import StoreError
from middlemark.results.files import file_name, folder_inside, inside


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "a/b", "/etc", "a\0b", "a\nb", "-rf", ".hidden", "x" * 201, "ä"]
)
def test_an_invalid_name_or_one_that_leaves_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError, match=r"is no name"):
        inside(tmp_path, "trials", name)


def test_a_link_on_the_way_is_refused_and_the_folder_itself_may_be_one(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "latest").symlink_to(tmp_path / "real")
    assert inside(tmp_path / "latest", "trials", "1-x") == tmp_path / "latest/trials/1-x"
    with pytest.raises(StoreError, match="symbolic link"):
        inside(tmp_path, "latest", "trial.json")
    with pytest.raises(StoreError, match="symbolic link"):
        folder_inside(tmp_path, "latest")


@given(st.text())
def test_every_text_has_a_name_that_lies_in_its_folder(text: str) -> None:
    name = file_name(text)
    assert inside(Path("figures"), name) == Path("figures", name)


@given(st.text(), st.text())
def test_two_texts_have_two_names(first: str, second: str) -> None:
    assert (file_name(first) == file_name(second)) == (first == second)


def test_a_safe_name_stays_as_it_is() -> None:
    assert file_name("zenoh-imu-C1-1-1f0c9a3e.imu.latency.hgrm") == "zenoh-imu-C1-1-1f0c9a3e.imu.latency.hgrm"
    assert file_name("../../.bashrc").startswith("bashrc-")
