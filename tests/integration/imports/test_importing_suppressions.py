"""Lists of other services, taken in over HTTP: each line once, bad ones by line and column, whatever breaks off."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from tests.support.http import HttpWorld
from tests.support.people import PeopleWorld, rows, told
from tidings.bootstrap.application import application
from tidings.kernel.http.asgi import ClientGoneError
from tidings.kernel.ids import TenantId
from tidings.notify.imports import engine

IMPORT = "/api/v1/suppressions/import"
CSV = {"Content-Type": "text/csv"}

LISTS = [
    ("sendgrid", "status,reason,email,created\n5.1.1,550 <a@example.test> unknown,a@example.test,1600000000\n"
     "4.2.2,mailbox full,b@example.test,1600000000\n", {"hard_bounce": 1, "soft_bounce": 1}),
    ("sendgrid", "ip,email,created\n10.0.0.1,a@example.test,1600000000\n", {"complaint": 1}),
    ("sendgrid", "reason,email,created\nMail domain mentioned,a@example.test,1600000000\n", {"invalid_address": 1}),
    ("sendgrid", "email,created\na@example.test,1600000000\n", {"opt_out": 1}),
    ("mailgun", "address,code,error,created_at\na@example.test,550,\"no, such user\",\"Fri, 13 Nov 2020 10:00:00 UTC\"\n",
     {"hard_bounce": 1}),
    ("mailgun", "address,created_at\na@example.test,2020-11-13\n", {"complaint": 1}),
    ("mailgun", "address,tags,created_at\na@example.test,*,2020-11-13\n", {"opt_out": 1}),
    ("postmark", "EmailAddress,SuppressionReason,Origin,CreatedAt\na@example.test,HardBounce,Recipient,2020-01-01\n"
     "b@example.test,ManualSuppression,Recipient,2020-01-01\nc@example.test,ManualSuppression,Customer,2020-01-01\n"
     "d@example.test,SpamComplaint,Recipient,2020-01-01\n",
     {"hard_bounce": 1, "opt_out": 1, "manual": 1, "complaint": 1}),
    ("ses", "EmailAddress,Reason,LastUpdateTime\na@example.test,BOUNCE,2020-01-01\nb@example.test,COMPLAINT,2020-01-01\n",
     {"hard_bounce": 1, "complaint": 1}),
    ("ses", "a@example.test,BOUNCE\nb@example.test, COMPLAINT\n", {"hard_bounce": 1, "complaint": 1}),
    ("generic", "channel;address;reason\nsms;+93 70 123 4567;opt_out\n", {"opt_out": 1}),
    ("generic", '{"address": "a@example.test", "reason": "compliance"}\n', {"compliance": 1}),
]  # fmt: skip


async def send(
    world: PeopleWorld, tenant_id: TenantId, body: Any, key: str | None = None, **query: str
) -> Any:
    headers = CSV if key is None else {**CSV, "Idempotency-Key": key}
    async with world.http.as_tenant(tenant_id) as client:
        return await client.post(IMPORT, content=body, headers=headers, params=query)


async def reasons(world: PeopleWorld, tenant_id: TenantId) -> dict[str, int]:
    found = await rows(
        world.db, tenant_id, "SELECT reason, count(*) AS n FROM notification.suppressions GROUP BY reason"
    )
    return {row["reason"]: row["n"] for row in found}


def people(count: int, first: int = 0) -> str:
    return "email,created\n" + "".join(f"p{n}@example.test,1\n" for n in range(first, first + count))


@pytest.mark.parametrize(("name", "text", "wanted"), LISTS)
async def test_a_list_is_recognised_by_its_headings(
    world: PeopleWorld, name: str, text: str, wanted: dict[str, int]
) -> None:
    tenant = await world.tenant()

    done = await send(world, tenant.id, text)
    again = await send(world, tenant.id, text.replace("\n", "\r\n"), format=name)

    assert done.status_code == 200, done.text
    assert done.json()["format"].startswith(name)
    assert (done.json()["status"], done.json()["added"], done.json()["refused"]) == (
        "completed", sum(wanted.values()), 0,
    )  # fmt: skip
    assert await reasons(world, tenant.id) == wanted
    assert (again.json()["added"], again.json()["unchanged"]) == (0, sum(wanted.values()))


async def test_each_is_told_unless_the_caller_wants_quiet(world: PeopleWorld) -> None:
    loud, quiet = await world.tenant(), await world.tenant()

    await send(world, loud.id, people(3) + "p0@example.test,1\n")
    done = await send(world, quiet.id, people(3), emit_events="false")

    assert [subject for subject, _ in await told(world.db, loud.id, "suppression.")] == [
        "suppression.added.v1"
    ] * 3
    assert await told(world.db, quiet.id, "suppression.") == []
    audited = await rows(
        world.db,
        quiet.id,
        "SELECT entity_id, action, after FROM notification.audit WHERE entity_type = 'import'",
    )
    assert [(row["entity_id"], row["action"]) for row in audited] == [(done.json()["id"], "completed")]
    assert '"added":3' in audited[0]["after"].replace(" ", "")


async def test_bad_lines_are_named_and_hold_up_nobody(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    text = (
        "address,channel,reason,expires_at\n"
        "ok@example.test,email,manual,\n"
        "secret-nobody,email,manual,\n"
        "x@example.test,pigeon,whim,2001-01-01\n"
        "\n"
        '"broken cell,email\n'
        "too,few\n"
        "\xff@example.test,email,manual,\n"
        ",email,manual,\n"
        "later@example.test,email,manual,2099-01-01T00:00:00Z\n"
    ).encode("latin-1")

    async with world.http.as_tenant(tenant.id) as client:
        done = await client.post(IMPORT, content=text, headers=CSV)
        report = await client.get(done.json()["links"]["report"])
        shown = await client.get(done.json()["links"]["self"])
        listed = await client.get("/api/v1/imports", params={"kind": "suppressions"})

    found = [(p["line"], p["column"], p["code"]) for p in done.json()["first_problems"]]
    assert found == [
        (3, "address", "bad_address"),
        (4, "channel", "unknown_channel"),
        (4, "expires_at", "past_expiry"),
        (4, "reason", "unknown_reason"),
        (6, "", "unclosed_quote"),
        (7, "", "wrong_cells"),
        (8, "", "not_utf8"),
        (9, "address", "missing_value"),
    ]
    assert (done.json()["added"], done.json()["refused"], done.json()["problems"]) == (2, 6, 8)
    assert report.headers["content-type"].startswith("text/csv")
    assert report.text.splitlines()[:2] == [
        "line,column,code,what,severity",
        "3,address,bad_address,must be an e-mail address such as name@example.org,error",
    ]
    assert len(report.text.splitlines()) == 9
    assert shown.json() == done.json()
    assert [item["id"] for item in listed.json()["items"]] == [done.json()["id"]]
    assert "secret" not in report.text + done.text


@pytest.mark.parametrize(
    ("text", "query", "field"),
    [
        ("name,mail\nx,y\n", {}, "format"),
        ("email,created\nx@example.test,1\n", {"format": "postmark"}, "format"),
        ("a,b\nx,y\n", {"mapping": "address:c"}, "mapping"),
        ("a,b\nx,y\n", {"mapping": "nothing:c"}, "mapping"),
        ("a,b\nx,y\n", {"format": "whatever"}, "format"),
        ("", {}, ""),
        ("\ufeff".encode("utf-16").decode("latin-1"), {}, ""),
    ],
)
async def test_a_file_that_is_not_understood_changes_nothing(
    world: PeopleWorld, text: str, query: dict[str, str], field: str
) -> None:
    tenant = await world.tenant()

    refused = await send(world, tenant.id, text.encode("latin-1"), **query)

    assert refused.status_code == 400, refused.text
    assert [error["field"] for error in refused.json()["errors"]] == [field]
    assert await reasons(world, tenant.id) == {}


async def test_a_mapping_says_where_things_are(world: PeopleWorld) -> None:
    tenant = await world.tenant()

    done = await send(
        world,
        tenant.id,
        "Kunde,E-Mail\nLaila,l@example.test\n",
        mapping="address:E-Mail",
        reason="compliance",
    )

    assert (done.json()["added"], done.json()["format"]) == (1, "generic")
    assert await reasons(world, tenant.id) == {"compliance": 1}


async def test_a_dry_run_says_the_same_and_changes_nothing(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    await send(world, tenant.id, people(2))

    tried = await send(world, tenant.id, people(5) + "nobody,1\n", dry_run="true")

    assert (tried.json()["added"], tried.json()["unchanged"], tried.json()["refused"]) == (3, 2, 1)
    assert await reasons(world, tenant.id) == {"opt_out": 2}
    assert len(await told(world.db, tenant.id, "suppression.")) == 2


async def cut_off(text: str, after: int) -> AsyncIterator[bytes]:
    raw = text.encode()
    for start in range(0, after, 1000):
        yield raw[start : min(start + 1000, after)]
    raise ClientGoneError


async def test_one_that_broke_off_goes_on_and_counts_nothing_twice(
    world: PeopleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "SET", 50)
    tenant = await world.tenant()
    text = people(500) + "nobody,1\n"

    # There is nobody to answer, which this transport can't bear.
    with pytest.raises(AssertionError):
        await send(world, tenant.id, cut_off(text, len(text) // 2), key="file-1")
    async with world.http.as_tenant(tenant.id) as client:
        [half] = (await client.get("/api/v1/imports")).json()["items"]
    other = await send(world, tenant.id, people(500, first=1), key="file-1")
    otherwise = await send(world, tenant.id, text, key="file-1", emit_events="false")
    whole = await send(world, tenant.id, text, key="file-1")
    again = await send(world, tenant.id, text, key="file-1")
    longer = await send(world, tenant.id, text + "more@example.test,1\n", key="file-1")

    assert half["status"] in ("running", "interrupted")
    assert 0 < half["added"] < 500
    assert (other.status_code, other.json()["code"]) == (409, "import_other_file")
    assert (otherwise.status_code, otherwise.json()["code"]) == (409, "import_other_file")
    assert (whole.json()["id"], whole.json()["status"]) == (half["id"], "completed")
    assert (whole.json()["added"], whole.json()["unchanged"], whole.json()["refused"]) == (500, 0, 1)
    assert whole.json()["lines"] == 502
    assert again.json() == whole.json()
    assert longer.json()["code"] == "import_other_file"
    assert len(await told(world.db, tenant.id, "suppression.")) == 500


async def test_who_goes_on_takes_over(world: PeopleWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that the client has given up may still be read from: it must not write beside the new one."""
    monkeypatch.setattr(engine, "SET", 10)
    tenant = await world.tenant()
    text = people(100)
    go_on = asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        yield text[:900].encode()
        await go_on.wait()
        yield text[900:].encode()

    first = asyncio.create_task(send(world, tenant.id, slow(), key="k"))
    async with world.http.as_tenant(tenant.id) as client:
        while not (await client.get("/api/v1/imports")).json()["items"]:
            await asyncio.sleep(0.01)
    second = await send(world, tenant.id, text, key="k")
    go_on.set()

    assert (second.json()["status"], second.json()["added"]) == ("completed", 100)
    assert (await first).json()["code"] == "import_taken_over"
    assert await reasons(world, tenant.id) == {"opt_out": 100}


async def test_the_platform_imports_for_a_tenant_it_names(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    async with world.http.as_platform(**{"X-Tenant-Id": tenant.id}) as client:
        done = await client.post("/internal/v1/suppressions/import", content=people(2), headers=CSV)
        stats = await client.get("/internal/v1/suppressions/stats")

    assert done.json()["added"] == 2
    assert stats.json()["total"] == 2


async def test_it_takes_the_scope_and_the_right_kind_of_body(world: PeopleWorld) -> None:
    tenant, other = await world.tenant(), await world.tenant()
    done = await send(world, tenant.id, people(1))
    async with world.http.as_tenant(tenant.id, role="tenant.viewer") as viewer:
        denied = await viewer.post(IMPORT, content=people(1), headers=CSV)
    async with world.http.as_tenant(tenant.id) as client:
        wrong = await client.post(IMPORT, json={})
    async with world.http.as_tenant(other.id) as client:
        unknown = await client.get(f"/api/v1/imports/{done.json()['id']}")

    assert (denied.status_code, wrong.status_code) == (403, 415)
    assert (unknown.status_code, unknown.json()["code"]) == (404, "import_not_found")


async def test_a_file_may_be_longer_than_other_bodies_and_not_than_its_own_limit(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    text = "address,reason,junk\n" + "".join(f"p{n}@example.test,manual,{'x' * 30_000}\n" for n in range(50))

    async with world.http.as_tenant(tenant.id) as client:
        done = await client.post(IMPORT, content=text, headers=CSV)
    assert len(text) > world.system.settings.http.max_body_bytes
    assert done.json()["added"] == 50

    world.system.settings = replace(
        world.system.settings, http=replace(world.system.settings.http, max_import_bytes=100_000)
    )
    small = HttpWorld(make_app=lambda: application(world.system), system=world.system, answered=[])
    async with small.as_tenant(tenant.id) as client:
        refused = await client.post(IMPORT, content=text, headers=CSV)
    assert (refused.status_code, refused.json()["code"]) == (413, "body_too_large")


async def test_a_tenant_runs_two_at_once_and_leaves_room_for_others(world: PeopleWorld) -> None:
    tenant, other = await world.tenant(), await world.tenant()
    go_on = asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        yield b"email,created\n"
        await go_on.wait()
        yield b"a@example.test,1\n"

    _ = world.http
    waiting = [asyncio.create_task(send(world, tenant.id, slow())) for _ in range(2)]
    async with world.http.as_tenant(tenant.id) as client, asyncio.timeout(60):
        while len((await client.get("/api/v1/imports")).json()["items"]) < 2:
            await asyncio.sleep(0.01)
        refused = await client.post(IMPORT, content=people(1), headers=CSV)
    async with world.http.as_tenant(other.id) as client:
        taken = await client.post(IMPORT, content=people(1), headers=CSV)
    go_on.set()

    assert (refused.status_code, refused.json()["code"]) == (429, "too_busy")
    assert taken.json()["added"] == 1
    assert sum([(await one).json()["added"] for one in waiting]) == 1


async def test_a_longer_expiry_counts_as_a_change(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    text = "address,channel,reason,expires_at\na@example.test,email,manual,20{}-01-01T00:00:00Z\n"
    first, longer, same = [(await send(world, tenant.id, text.format(year))).json() for year in (40, 45, 45)]

    counted = [(one["added"], one["changed"], one["unchanged"]) for one in (first, longer, same)]
    assert counted == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]


async def test_the_history_names_the_import_whatever_the_file_says(world: PeopleWorld) -> None:
    """Notes are the file's words and nobody's name; a file of our own comes back with the notes it had, and no longer."""
    tenant, other = await world.tenant(), await world.tenant()
    longest = "n" * 500
    lines = f"address,reason,notes,date\na@example.test,manual,admin@example.test,2020-01-01\nb@example.test,manual,{longest},\n"
    done = (await send(world, tenant.id, lines)).json()
    async with world.http.as_tenant(tenant.id) as client:
        listed = (await client.get("/api/v1/suppressions")).json()["items"]
        noted = next(one for one in listed if one["occurred_at"].startswith("2020"))
        history = (await client.get(f"/api/v1/suppressions/{noted['id']}/history")).json()["items"]
        exported = await client.get("/api/v1/suppressions/export", params={"reveal": "true"})
    again = (await send(world, other.id, exported.content)).json()
    async with world.http.as_tenant(other.id) as client:
        there = (await client.get("/api/v1/suppressions")).json()["items"]

    assert (done["added"], done["refused"]) == (2, 0)
    assert [(item["what"], item["by"]) for item in history] == [
        ("occurred", done["id"]), ("added", done["id"]),
    ]  # fmt: skip
    assert noted["notes"] == f"import {done['id']}: admin@example.test"
    assert (again["added"], again["refused"]) == (2, 0)
    assert sorted(one["notes"] for one in there) == [
        f"import {again['id']}: admin@example.test", f"import {again['id']}: {longest}",
    ]  # fmt: skip


async def test_pages_of_imports_are_full_whatever_else_there_is(world: PeopleWorld) -> None:
    """Who may see one kind only gets as many of that kind as they asked for, and a cursor only where there are more."""
    tenant = await world.tenant()
    for n in range(3):
        await send(world, tenant.id, people(1, n))
        async with world.http.as_tenant(tenant.id) as client:
            await client.post("/api/v1/recipients/import", content=f"id\nrcp_{n}\n", headers=CSV)
    async with world.http.as_tenant(tenant.id, scopes=["suppressions:read"]) as client:
        first = (await client.get("/api/v1/imports", params={"limit": "2"})).json()
        rest = (await client.get("/api/v1/imports", params={"cursor": first["next_cursor"]})).json()
        refused = await client.get("/api/v1/imports", params={"kind": "recipients"})
    async with world.http.as_tenant(tenant.id, scopes=["templates:read"]) as client:
        nothing = (await client.get("/api/v1/imports")).json()
    async with world.http.as_tenant(tenant.id) as client:
        everything = (await client.get("/api/v1/imports")).json()["items"]

    assert [len(page["items"]) for page in (first, rest)] == [2, 1]
    assert {one["kind"] for page in (first, rest) for one in page["items"]} == {"suppressions"}
    assert rest["next_cursor"] is None
    assert refused.status_code == 403
    assert (nothing["items"], nothing["next_cursor"]) == ([], None)
    assert len(everything) == 6


async def test_stray_quotes_swallow_nobody(world: PeopleWorld) -> None:
    """10,000 addresses, a hundred of them beside a note with one quotation mark: inside a cell, or at its beginning."""
    tenant_id = (await world.tenant()).id
    notes = {n: '5" pipe' if n % 200 else '"5 pipe' for n in range(0, 10_000, 100)}
    lines = [f"s{n}@example.test,email,manual,{notes.get(n, 'ok')}\n" for n in range(10_000)]

    answer = await send(world, tenant_id, "address,channel,reason,notes\n" + "".join(lines))

    done = answer.json()
    assert done["lines"] == 10_001
    assert done["added"] == 9_950
    assert done["refused"] == 50, "the quotes that open a cell and are never closed, each by itself"
    assert done["skipped"] == 1, "the headings"
    assert {problem["code"] for problem in done["first_problems"]} == {"unclosed_quote"}


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("sep=;\naddress;channel\na@example.test;EMAIL\n\n", (1, 0, 3)),
        ("address|channel\na@example.test|email\n", (1, 0, 1)),
        ("address, channel\na@example.test, email\n", (1, 0, 1)),
        ('address,channel,notes\na@example.test,email,"two\nlines"\nb@example.test,email,one\n', (1, 2, 1)),
        ('status,reason,email,created\n5.1.1,"no\nsuch\nuser",a@example.test,1600000000\n', (1, 0, 3)),
    ],
)
async def test_every_line_is_taken_refused_or_skipped(
    world: PeopleWorld, file: str, counts: tuple[int, int, int]
) -> None:
    answer = await send(world, (await world.tenant()).id, file)

    done = answer.json()
    assert (done["added"], done["refused"], done["skipped"]) == counts
    assert done["lines"] == sum(counts) == file.count("\n")
    assert done["bytes"] == len(file)


async def test_a_file_of_nonsense_is_given_up(world: PeopleWorld) -> None:
    tenant_id = (await world.tenant()).id

    answer = await send(world, tenant_id, "address,channel\n" + "x\n" * 20_000)

    assert answer.status_code == 400
    assert "no line that could be taken among its first 6,000" in answer.json()["errors"][0]["remedy"]
    [row] = await rows(world.db, tenant_id, "SELECT status, lines, refused FROM notification.imports")
    assert (row["status"], row["refused"]) == ("interrupted", row["lines"] - 1)


async def test_what_a_spreadsheet_did_to_numbers_is_said(world: PeopleWorld) -> None:
    answer = await send(
        world, (await world.tenant()).id, "address,channel,date\n2.34E+12,sms,\n+93701234567,sms,44987\n"
    )

    said = {problem["code"]: problem["what"] for problem in answer.json()["first_problems"]}
    assert "rounded by a spreadsheet" in said["bad_address"]
    assert "number of a day" in said["bad_date"]
    assert answer.json()["added"] == 1
