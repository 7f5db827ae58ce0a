"""Cookies and the marks of browsers."""

from typing import Any

import pytest

from tidings.kernel.http.browsers import is_from_another_site, is_local, is_secure, read_cookie, set_cookie


def scope(scheme: str = "http", **headers: str) -> dict[str, Any]:
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "scheme": scheme, "headers": named}


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("localhost:8080", True),
        ("127.0.0.1:8080", True),
        ("[::1]:8080", True),
        ("shop.localhost", True),
        ("tidings.example", False),
        ("10.0.0.1", False),
        ("localhost.example", False),
        ("", False),
    ],
)
def test_this_machine_is_known_by_its_name(host: str, local: bool) -> None:
    assert is_local(scope(host=host)) is local


def test_https_is_ours_or_the_proxys_at_the_public_address() -> None:
    assert is_secure(scope("https", host="x"), None)
    assert is_secure(scope(host="tidings.example"), "https://tidings.example")
    assert not is_secure(scope(host="127.0.0.1:8080"), "https://tidings.example")
    assert not is_secure(scope(host="tidings.example"), "http://tidings.example")


def test_a_cookie_is_read_by_the_name_that_fits_the_connection() -> None:
    both = scope(cookie="a=1; __Host-a=2")

    assert read_cookie(both, "a", secure=False) == "1"
    assert read_cookie(both, "a", secure=True) == "2"
    assert read_cookie(scope(), "a", secure=True) is None
    assert read_cookie(scope(cookie="a=1; a=2"), "a", secure=False) is None


def test_a_cookie_is_for_this_host_alone() -> None:
    assert set_cookie("a", "1", secure=True, seconds=9) == (
        "__Host-a=1; Path=/; Max-Age=9; HttpOnly; SameSite=Strict; Secure"
    )
    assert "Secure" not in set_cookie("a", "1", secure=False, seconds=9)


@pytest.mark.parametrize(
    ("headers", "foreign"),
    [
        ({}, False),
        ({"sec_fetch_site": "same-origin"}, False),
        ({"sec_fetch_site": "none"}, False),
        ({"sec_fetch_site": "same-site"}, True),
        ({"sec_fetch_site": "cross-site"}, True),
        ({"origin": "https://tidings.example"}, False),
        ({"origin": "https://evil.example"}, True),
        ({"origin": "http://tidings.example"}, True),
        ({"origin": "https://tidings.example:8443"}, True),
        ({"origin": "null"}, True),
        ({"sec_fetch_site": "same-origin", "origin": "https://evil.example"}, True),
    ],
)
def test_a_page_of_another_site_gives_itself_away(headers: dict[str, str], foreign: bool) -> None:
    assert is_from_another_site(scope(host="tidings.example", **headers), secure=True) is foreign
