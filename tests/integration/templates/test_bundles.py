"""Zips of templates through HTTP: taken whole or not at all, and given back as they were."""

import asyncio
import json
from typing import Any

import httpx2
import pytest

from tests.integration.templates.conftest import TemplateWorld
from tests.integration.templates.drafts import draft
from tests.support.bundles import HOME, bundle, entry, facts, zipped
from tidings.notify.templates.bundle.archive import MOST_PACKED_BYTES, unpack

IMPORT = "/api/v1/templates/import"
EXPORT = "/api/v1/templates/export"
ZIP = {"Content-Type": "application/zip"}
OTHER = "templates/bye/sms"


async def take(client: httpx2.AsyncClient, files: dict[str, bytes], **query: str) -> httpx2.Response:
    """Send these files."""
    return await client.post(IMPORT, content=zipped(files), headers=ZIP, params=query)


def both() -> dict[str, bytes]:
    """Two templates."""
    return bundle() | {
        f"{OTHER}/template.json": json.dumps(facts()).encode(),
        f"{OTHER}/en/body.txt": b"Bye {{name}}\n",
    }


async def versions(client: httpx2.AsyncClient, path: str = "welcome/email") -> list[tuple[str, str]]:
    """Number and status of what is there."""
    listed = await client.get(f"/api/v1/templates/{path}/versions")
    return [(line["semver"], line["status"]) for line in listed.json().get("items", ())]


async def test_a_zip_becomes_drafts_that_can_be_published(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        report = await take(client, both())
        again = await take(client, both())
        published = await client.post("/api/v1/templates/welcome/email/versions/1.0.0/publish")
        after = await take(client, both())
        there = [await versions(client), await versions(client, "bye/sms")]
        audit = await client.get("/api/v1/audit", params={"entity_type": "template"})

    assert report.status_code == 200, report.text
    assert report.json()["written"] is True
    assert [(t["key"], t["channel"], t["semver"], t["outcome"]) for t in report.json()["templates"]] == [
        ("bye", "sms", "1.0.0", "created"),
        ("welcome", "email", "1.0.0", "created"),
    ]
    assert {line["file"]: line["outcome"] for line in report.json()["files"]} == dict.fromkeys(
        both(), "taken"
    )
    assert {t["outcome"] for t in again.json()["templates"]} == {"unchanged"}
    assert published.status_code == 200, published.text
    assert {t["outcome"] for t in after.json()["templates"]} == {"unchanged"}
    assert there == [[("1.0.0", "active")], [("1.0.0", "draft")]]
    assert [row["action"] for row in audit.json()["items"]].count("version.created") == 2


async def test_it_comes_back_as_it_was(world: TemplateWorld) -> None:
    """What is exported is taken elsewhere and exported there as the same bytes."""
    more: dict[str, Any] = {
        "locales": {"ps-AF": {"direction": "rtl"}},
        "fallback_chain": ["fa-AF"],
        "template_fallback_chain": ["fr"],
    }
    files = bundle(**more) | {
        f"{HOME}/en/text.txt": b"Hello {{name}}\n",
        f"{HOME}/en/preheader.txt": b"Look\n",
        f"{HOME}/en/strings.json": b'{"greeting": "Hello"}',
        f"{HOME}/ps-AF/strings.json": '{"greeting": "سلام"}'.encode(),
        f"{HOME}/partials/footer.hbs": b"<p>bye</p>\n",
    }
    one, other = await world.http.tenant(), await world.http.tenant()
    async with world.http.as_tenant(one.id) as client:
        assert (await take(client, files)).status_code == 200
        first = await client.get(EXPORT)
        single = await client.get(EXPORT, params={"key": "welcome", "channel": "email"})
    async with world.http.as_tenant(other.id) as client:
        assert (await client.post(IMPORT, content=first.content, headers=ZIP)).status_code == 200
        second = await client.get(EXPORT)

    assert first.headers["content-type"] == "application/zip"
    assert first.content == single.content == second.content
    found = unpack(first.content).files
    assert {path: raw for path, raw in found.items() if not path.endswith(".json")} == {
        path: raw for path, raw in files.items() if not path.endswith(".json")
    }
    assert json.loads(found[f"{HOME}/template.json"]) == facts(**more)
    assert json.loads(found[f"{HOME}/ps-AF/strings.json"]) == {"greeting": "سلام"}


async def test_a_trial_writes_nothing_and_says_all(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        fine = await take(client, both(), dry_run="true")
        bad = await take(
            client, both() | {"README.md": b"x", f"{HOME}/en/body.html": b"\xff"}, dry_run="true"
        )
        there = await versions(client)
        audit = await client.get("/api/v1/audit", params={"entity_type": "template"})

    assert (fine.status_code, fine.json()["written"], fine.json()["dry_run"]) == (200, False, True)
    assert [t["outcome"] for t in fine.json()["templates"]] == ["created", "created"]
    assert (bad.status_code, bad.json()["publishable"]) == (200, False)
    errors = [f for f in bad.json()["findings"] if f["severity"] == "error"]
    assert [(f["file"], f["line"]) for f in errors] == [("README.md", None), (f"{HOME}/en/body.html", 1)]
    outcomes = {line["file"]: line["outcome"] for line in bad.json()["files"]}
    assert (outcomes["README.md"], outcomes[f"{HOME}/en/subject.txt"]) == ("refused", "taken")
    assert there == []
    assert audit.json()["items"] == []


async def test_one_bad_folder_stops_them_all(world: TemplateWorld) -> None:
    """What only the database knows is told together, and nothing is half written."""
    worse = both()
    worse[f"{OTHER}/template.json"] = json.dumps(facts(category="no_such")).encode()
    worse["templates/aaa/sms/template.json"] = json.dumps(facts(category="neither")).encode()
    worse["templates/aaa/sms/en/body.txt"] = b"x"
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        refused = await take(client, worse)
        there = await versions(client)
        exported = await client.get(EXPORT)

    assert (refused.status_code, refused.json()["code"]) == (400, "template_bundle_refused")
    assert [e["field"] for e in refused.json()["errors"]] == [
        "templates/aaa/sms/template.json",
        f"{OTHER}/template.json",
    ]
    assert [(f["file"], f["field"]) for f in refused.json()["report"]] == [
        ("templates/aaa/sms/template.json", "category"),
        (f"{OTHER}/template.json", "category"),
    ]
    assert there == []
    assert unpack(exported.content).files == {}


async def test_a_published_version_is_not_written_over(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        await take(client, bundle())
        await client.post("/api/v1/templates/welcome/email/versions/1.0.0/publish")
        changed = bundle() | {f"{HOME}/en/subject.txt": b"Good morning {{name}}\n"}
        refused = await take(client, changed)
        raised = await take(client, changed | {f"{HOME}/template.json": json.dumps(facts("1.1.0")).encode()})
        newest = unpack((await client.get(EXPORT)).content).files
        in_force = unpack((await client.get(EXPORT, params={"version": "active"})).content).files

    assert refused.json()["errors"] == [
        {
            "field": f"{HOME}/template.json",
            "remedy": "version 1.0.0 was published and says something else; raise semver",
        }
    ]
    assert [t["outcome"] for t in raised.json()["templates"]] == ["created"]
    assert newest[f"{HOME}/en/subject.txt"] == b"Good morning {{name}}\n"
    assert in_force[f"{HOME}/en/subject.txt"] == b"Hello {{name}}\n"


async def test_a_draft_is_replaced_by_what_the_files_say(world: TemplateWorld) -> None:
    """With what the validator says about it, file by file; it is taken all the same."""
    tenant = await world.http.tenant()
    faulty = bundle() | {f"{HOME}/ps-AF/body.html": "<p>سلام</p>\n<p>{{nmae}}</p>\n".encode()}
    async with world.http.as_tenant(tenant.id) as client:
        first = await take(client, faulty)
        refused = await client.post("/api/v1/templates/welcome/email/versions/1.0.0/publish")
        trial = await take(client, bundle(), dry_run="true")
        mended = await take(client, bundle())
        published = await client.post("/api/v1/templates/welcome/email/versions/1.0.0/publish")
        audit = await client.get("/api/v1/audit", params={"entity_type": "template"})

    assert (first.status_code, first.json()["written"], first.json()["publishable"]) == (200, True, False)
    wrong = [f for f in first.json()["findings"] if f["severity"] == "error"]
    assert [(f["file"], f["locale"], f["line"]) for f in wrong] == [(f"{HOME}/ps-AF/body.html", "ps-AF", 2)]
    untaken = {line["file"]: line["outcome"] for line in first.json()["files"] if line["outcome"] != "taken"}
    assert untaken == {f"{HOME}/ps-AF/body.html": "faulty"}
    assert refused.json()["code"] == "template_unpublishable"
    assert trial.json()["templates"][0]["outcome"] == mended.json()["templates"][0]["outcome"] == "replaced"
    assert mended.json()["publishable"] is True
    assert published.status_code == 200, published.text
    assert [row["action"] for row in audit.json()["items"]] == [
        "published",
        "version.changed",
        "version.created",
    ]


async def test_many_at_once(world: TemplateWorld) -> None:
    """The same zip sent several times while others publish: one makes the drafts, nobody is refused or stuck."""
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        sent = await asyncio.gather(*(take(client, both()) for _ in range(4)))
        mixed = await asyncio.gather(
            *(take(client, both() | {"layouts/house.hbs": f"<p>{n}</p>".encode()}) for n in range(3)),
            client.post("/api/v1/templates/welcome/email/versions/1.0.0/publish"),
            client.post("/api/v1/templates/bye/sms/versions/1.0.0/publish"),
        )
        there = await versions(client)

    assert [answer.status_code for answer in (*sent, *mixed)] == [200] * 9
    outcomes = sorted(t["outcome"] for answer in sent for t in answer.json()["templates"])
    assert outcomes == ["created"] * 2 + ["unchanged"] * 6
    assert there == [("1.0.0", "active")]


async def test_layouts_come_with_the_templates_that_use_them(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    layout = b'<div class="house">{{> @partial-block}}</div>\n'
    files = bundle(layout="house") | {"layouts/house.hbs": layout, "layouts/unused.hbs": b"<p></p>\n"}
    async with world.http.as_tenant(tenant.id) as client:
        taken = await take(client, files)
        again = await take(client, files)
        every = unpack((await client.get(EXPORT)).content).files
        one = unpack((await client.get(EXPORT, params={"key": "welcome"})).content).files
        audit = await client.get("/api/v1/audit", params={"entity_type": "layout"})
    async with world.http.as_platform() as client:
        refused = await take(client, {"layouts/house.hbs": layout})

    assert taken.status_code == again.status_code == 200, taken.text
    assert every["layouts/house.hbs"] == layout
    assert "layouts/unused.hbs" in every
    assert "layouts/unused.hbs" not in one
    assert one["layouts/house.hbs"] == layout
    assert len(audit.json()["items"]) == 2
    assert refused.json()["errors"][0]["field"] == "layouts/house.hbs"


async def test_hostile_zips_change_nothing(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        for packed in (
            b"not a zip",
            zipped([*bundle().items(), ("../../etc/passwd", b"x")]),
            zipped(
                [*bundle().items(), (entry("templates/x/sms/template.json", mode=0o120777), b"/etc/passwd")]
            ),
            zipped([*bundle().items(), ("templates/big/sms/template.json", b" " * 900_000)]),
        ):
            refused = await client.post(IMPORT, content=packed, headers=ZIP)
            assert (refused.status_code, refused.json()["code"]) == (400, "template_bundle_refused")
        there = await versions(client)
        as_json = await client.post(IMPORT, json={})
        too_long = await client.post(IMPORT, content=bytes(MOST_PACKED_BYTES + 1), headers=ZIP)

    assert there == []
    assert as_json.json()["code"] == "wrong_content_type"
    assert too_long.json()["code"] == "body_too_large"


async def test_nobody_sees_or_writes_what_is_not_theirs(world: TemplateWorld) -> None:
    one, other = await world.http.tenant(), await world.http.tenant()
    async with world.http.as_tenant(one.id) as client:
        await take(client, bundle())
    async with world.http.as_tenant(other.id) as client:
        empty = await client.get(EXPORT)
        missing = await client.get(EXPORT, params={"key": "welcome"})
    async with world.http.as_tenant(one.id, role="tenant.viewer") as client:
        seen = await client.get(EXPORT)
        refused = await take(client, bundle("2.0.0"))

    assert unpack(empty.content).files == {}
    assert missing.json()["code"] == "template_not_found"
    assert len(unpack(seen.content).files) == 5
    assert refused.status_code == 403


async def test_the_platforms_templates_as_a_beginning(world: TemplateWorld) -> None:
    """A platform key keeps them; every tenant may have a copy of what is in force."""
    tenant = await world.http.tenant()
    key = f"shared{tenant.id[-8:].lower()}"
    files = {path.replace("welcome", key): raw for path, raw in bundle().items()}
    async with world.http.as_platform() as client:
        taken = await take(client, files)
        await client.post(f"/api/v1/templates/{key}/email/versions/1.0.0/publish")
        own = await client.get(EXPORT, params={"key": key})
    async with world.http.as_tenant(tenant.id) as client:
        copy = await client.get(EXPORT, params={"key": key, "owner": "platform"})

    assert taken.status_code == 200, taken.text
    assert unpack(own.content).files.keys() == files.keys()
    assert copy.content == own.content


@pytest.mark.parametrize(
    ("name", "value"), [("key", "No Key"), ("channel", "fax"), ("owner", "me"), ("x", "1")]
)
async def test_strange_questions(world: TemplateWorld, name: str, value: str) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        refused = await client.get(EXPORT, params={name: value})

    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, name)


async def test_a_version_made_by_the_api_is_exported_too(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        await client.post("/api/v1/templates/welcome/email/versions", json=draft())
        files = unpack((await client.get(EXPORT)).content).files

    assert files[f"{HOME}/fa-AF/subject.txt"].decode() == "سلام {{name}}\n"


async def test_layouts_in_a_zip_keep_to_the_limits_of_all_layouts(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    crowd = {f"layouts/l{n}.hbs": b"{{> body}}" for n in range(101)}
    strange = {"layouts/body.hbs": b"{{> body}}", "layouts/long.hbs": b"{{> body}}", "layouts/none.hbs": b""}
    strange["layouts/long.hbs"] += " ".join(map(str, range(60_000))).encode()
    async with world.http.as_tenant(tenant.id) as client:
        refused = [await take(client, crowd), await take(client, strange)]
        kept = await client.get("/api/v1/layouts")
        fits = await take(client, dict(list(crowd.items())[:100]))

    assert [r.json()["code"] for r in refused] == ["template_bundle_refused"] * 2
    assert {fault["field"] for fault in refused[1].json()["errors"]} == set(strange), refused[1].text
    assert kept.json()["items"] == []
    assert fits.status_code == 200, fits.text
