"""Files are imported by a form: rehearsed, read as they arrive, with a report of what was wrong."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from tests.integration.backoffice.sent import ConsoleWorld
from tests.support.operators import SignedIn
from tests.support.people import unused
from tidings.backoffice.console.streamed_form import StreamedForm, read_streamed
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.asgi import ClientGoneError
from tidings.kernel.http.requests import Request

PAGES = "/console/imports"
EVIL = "<script>alert(1)</script>"


async def _send(who: SignedIn, content: str, name: str = "list.csv", **fields: str) -> httpx2.Response:
    """The form with a file, and where it leads."""
    at = who.browser
    await at.open(PAGES)
    given = {**at.hidden, "key": unused(), "kind": "suppressions", "format": "auto", **fields}
    answer = await at.client.post(
        PAGES, data=given, files={"file": (name, content)}, headers={"sec-fetch-site": "same-origin"}
    )
    return await at.open(answer.headers["location"]) if answer.status_code == 303 else answer


async def test_a_file_is_rehearsed_and_then_imported(sent: ConsoleWorld) -> None:
    admin = await sent.operator(await sent.house())
    lines = [f"p{unused()}@example.test" for _ in range(3)]
    content = "\n".join(["address,reason", *(f"{one},manual" for one in lines), f"{EVIL},manual", ""])

    rehearsed = await _send(admin, content, dry_run="on")
    assert "This was a rehearsal" in rehearsed.text
    assert (await admin.get("/api/v1/suppressions/stats")).json()["total"] == 0
    done = await _send(admin, content)
    assert "This was a rehearsal" not in done.text
    assert "The file was read to its end." in done.text
    assert EVIL not in done.text
    assert (await admin.get("/api/v1/suppressions/stats")).json()["total"] == 3
    report = await admin.browser.post(f"{done.url.path}/report")
    assert report.headers["content-type"].startswith("text/csv")
    assert "line,column,code" in report.text
    assert len(report.text.splitlines()) == 2
    listed = await admin.browser.open(PAGES)
    assert listed.text.count("data-row") == 2
    assert 'data-live="2"' in listed.text


async def test_other_services_lists_and_other_kinds_are_taken(sent: ConsoleWorld) -> None:
    admin = await sent.operator(await sent.house())
    sendgrid = f"status,reason,email,created\n5.1.1,gone,{unused()}@example.test,1700000000\n"
    bounces = await _send(admin, sendgrid, format="sendgrid")
    assert "sendgrid" in bounces.text
    person = json.dumps({"identity": {"type": "guest", "id": unused()}, "display_name": "Mina"}) + "\n"
    people = await _send(admin, person, "people.ndjson", kind="recipients")
    assert "People" in people.text
    assert "The file was read to its end." in people.text
    mine = await _send(
        admin, f"E-mail\n{unused()}@example.test\n", format="generic", mapping="address:E-mail"
    )
    assert "The file was read to its end." in mine.text


async def test_what_cannot_be_read_is_refused_with_the_reason(sent: ConsoleWorld) -> None:
    admin = await sent.operator(await sent.house())
    odd = await _send(admin, "colour,shape\nred,round\n")
    assert (odd.status_code, 'role="alert"' in odd.text) == (400, True)
    assert (await _send(admin, "a", kind="pigeons")).status_code == 400
    assert (await _send(admin, "a", format="pigeons")).status_code == 400
    assert (await _send(admin, "", name="")).status_code == 400
    forged = await admin.browser.client.post(
        PAGES,
        data={"csrf": "x"},
        files={"file": ("a.csv", "address\n")},
        headers={"sec-fetch-site": "same-origin"},
    )
    assert forged.status_code == 403


async def test_a_viewer_sees_what_was_imported_and_imports_nothing(sent: ConsoleWorld) -> None:
    house = await sent.house()
    admin = await sent.operator(house)
    done = await _send(admin, f"address\n{unused()}@example.test\n", format="generic")
    viewer = await sent.operator(house, "tenant.viewer")
    shown = await viewer.browser.open(str(done.url.path))
    assert shown.status_code == 200
    listed = await viewer.browser.open(PAGES)
    assert 'type="file"' not in listed.text
    refused = await _send(viewer, "address\nx@example.test\n", format="generic")
    assert refused.status_code == 403


def _request(pieces: list[bytes], kind: str = "multipart/form-data; boundary=XX") -> Request:
    left = iter(pieces)

    async def receive() -> dict[str, Any]:
        piece = next(left, None)
        if piece is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": piece, "more_body": True}

    scope: Any = {"type": "http", "headers": [(b"content-type", kind.encode())]}
    return Request(scope, receive, {})


WHOLE = (
    b'--XX\r\nContent-Disposition: form-data; name="csrf"\r\n\r\ntoken\r\n'
    b'--XX\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\n'
    b"address\r\n--X\r\none@example.test\r\n--XX--\r\n"
)


async def _read(form: StreamedForm) -> bytes:
    assert form.file is not None
    file: AsyncIterator[bytes] = form.file
    return b"".join([piece async for piece in file])


@pytest.mark.parametrize("size", [1, 2, 7, 40, 1000])
async def test_a_file_is_the_same_however_it_arrives(size: int) -> None:
    form = await read_streamed(_request([WHOLE[at : at + size] for at in range(0, len(WHOLE), size)]))

    assert (form.fields, form.filename) == ({"csrf": "token"}, "a.csv")
    assert await _read(form) == b"address\r\n--X\r\none@example.test"


async def test_a_form_that_breaks_off_is_no_whole_file() -> None:
    form = await read_streamed(_request([WHOLE[:-10]]))
    with pytest.raises(ClientGoneError):
        await _read(form)
    with pytest.raises(BadValueError):
        await read_streamed(_request([WHOLE[:40]]))
    with pytest.raises(BadValueError):
        await read_streamed(_request([WHOLE], kind="text/csv"))
    with pytest.raises(BadValueError):
        await read_streamed(_request([b"x" * 20_000]))
    empty = await read_streamed(_request([b"--XX--\r\n"]))
    assert (empty.fields, empty.file) == ({}, None)
