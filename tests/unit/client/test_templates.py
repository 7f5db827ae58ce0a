"""Calls about templates: bytes go out as bytes and come back as bytes."""

import httpx2

from tests.unit.client.conftest import Caller, PlayedServer
from tidings_client import operations


def test_a_zip_to_and_from_the_server(call: Caller, server: PlayedServer) -> None:
    """It is said what it is, and it is not looked into."""
    report = {
        "dry_run": True,
        "written": False,
        "publishable": True,
        "templates": [],
        "files": [],
        "findings": [],
    }
    report["a_field_of_tomorrow"] = 1
    server.answers(httpx2.Response(200, json=report), httpx2.Response(200, content=b"PK\x05\x06"))

    told = call.of("templates").import_(b"PK", dry_run=True)
    packed = b"".join(call.of("templates").export(key="welcome", version="active"))

    sent, asked = server.heard
    assert (sent.method, sent.url.raw_path, sent.content) == (
        "POST",
        b"/api/v1/templates/import?dry_run=true",
        b"PK",
    )
    assert sent.headers["content-type"] == "application/zip"
    assert (told.publishable, told.findings) == (True, ())
    assert asked.url.raw_path == b"/api/v1/templates/export?key=welcome&version=active"
    assert packed == b"PK\x05\x06"


def test_previews_as_json_and_as_a_page(call: Caller, server: PlayedServer) -> None:
    """A page is asked for by its kind."""
    server.answers(httpx2.Response(200, json={"text": "Hello"}), httpx2.Response(200, text="<p>سلام</p>"))

    place = ("preview_version", "welcome", "email", "1.0.0-rc.1")
    seen = call.call(operations.call(*place, body={"locale": "ps-AF"}))
    page = call.call(
        operations.call(*place, body={"width": "mobile"}, accept="text/html, */*;q=0.1")
    ).decode()

    assert seen == {"text": "Hello"}
    assert page == "<p>سلام</p>"
    assert [request.headers["accept"].startswith("text/html") for request in server.heard] == [False, True]
    assert server.bodies == [{"locale": "ps-AF"}, {"width": "mobile"}]
    assert {request.url.path for request in server.heard} == {
        "/api/v1/templates/welcome/email/versions/1.0.0-rc.1/preview"
    }


def test_versions_and_publishing(call: Caller, server: PlayedServer) -> None:
    """Names are quoted; publishing says why."""
    listed = {"items": [{"semver": "1.0.0", "status": "draft", "id": "tpv_1"}], "next_cursor": None}
    server.answers(httpx2.Response(200, json=listed), httpx2.Response(200, json={"status": "active"}))

    found = call.call(operations.call("list_versions", "a/b", "email"))["items"]
    call.call(operations.call("publish_version", "welcome", "email", "1.0.0", body={"reason": "mended"}))

    assert [(line["semver"], line["status"]) for line in found] == [("1.0.0", "draft")]
    assert server.heard[0].url.raw_path == b"/api/v1/templates/a%2Fb/email/versions"
    assert server.heard[1].content == b'{"reason":"mended"}'
