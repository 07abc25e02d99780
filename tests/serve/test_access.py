"""Who may see the pages: this machine under its own names, others with the token."""

from pathlib import Path

import pytest

from middlemark.serve.access import Admission, admission
from middlemark.serve.app import site
from serve_client import Client

RIGHT = "right"


def test_beyond_loopback_a_page_is_shown_to_who_has_the_token(tmp_path: Path) -> None:
    browser = Client(site([tmp_path], Admission(token=RIGHT)), "192.0.2.7:8450")
    assert browser.get("/").status_code == 401
    assert browser.get("/?token=wrong").status_code == 401
    admitted = browser.get(f"/?token={RIGHT}")
    assert (admitted.status_code, admitted.headers["location"]) == (303, "/")
    assert "HttpOnly" in admitted.headers["set-cookie"]
    assert browser.get("/").status_code == 200


@pytest.mark.parametrize("path", ["/", "/history", "/draw.js", "/runs/0/report", "/nowhere"])
def test_without_the_token_nothing_is_told_of_any_page(tmp_path: Path, path: str) -> None:
    browser = Client(site([tmp_path], Admission(token=RIGHT)))
    answer = browser.get(path, headers={"cookie": b"token=wr\xf6ng"})
    assert answer.status_code == 401
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_only_loopback_needs_no_token_and_each_start_draws_another() -> None:
    assert admission("127.0.0.1", "localhost").token is None
    for beyond in ("0.0.0.0", "192.0.2.7", "::", "::1"):  # noqa: S104 - nothing listens
        drawn = {admission(beyond, beyond).token for _ in range(2)}
        assert len(drawn) == 2
        assert None not in drawn


def test_the_printed_address_has_the_token() -> None:
    assert Admission(token=RIGHT).address("::1", 80) == f"http://[::1]:80/?token={RIGHT}"
    assert Admission().address("127.0.0.1", 80) == "http://127.0.0.1:80/"
