"""Pictures of versions: kept with a draft, frozen with what is published, the same in a zip and in a preview."""

import io
import re
import zipfile
from base64 import b64encode
from typing import Any

import httpx2
import pytest

from tests.integration.templates.conftest import TemplateWorld
from tests.integration.templates.drafts import draft, later
from tests.support.bundles import HOME, bundle, zipped
from tests.support.pictures import GIF, JPEG, SVG, png
from tidings.kernel.db import Database
from tidings.kernel.errors import DatabaseError
from tidings.kernel.ids import TenantId
from tidings.kernel.sql import Query
from tidings.notify.templates.assets import MOST_BYTES

VERSIONS = "/api/v1/templates/welcome/email/versions"
ONE = f"{VERSIONS}/1.0.0"
LOGO = png(500)


def showing(*names: str, **changes: Any) -> dict[str, Any]:
    """A draft whose English shows these pictures."""
    made = draft(**changes)
    made["locales"]["en"]["body"] = "<p>Hello {{name}}</p>\n" + "\n".join(
        f'<img src="cid:{name}" alt="">' for name in names
    )
    return made


async def put(client: httpx2.AsyncClient, name: str, content: bytes, of: str = ONE) -> httpx2.Response:
    """Send a picture."""
    return await client.put(f"{of}/assets/{name}", content=content)


async def test_a_draft_keeps_its_pictures(world: TemplateWorld) -> None:
    tenant, stranger = await world.http.tenant(), await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        made = await client.post(VERSIONS, json=showing("logo.png"))
        first = await put(client, "logo.png", LOGO)
        again = await put(client, "logo.png", LOGO)
        other = await put(client, "b.gif", GIF)
        given = await client.get(f"{ONE}/assets/logo.png")
        shown = await client.get(ONE)
        gone = await client.delete(f"{ONE}/assets/b.gif")
        missing = [
            await client.get(f"{ONE}/assets/b.gif"),
            await client.delete(f"{ONE}/assets/b.gif"),
            await client.get(f"{VERSIONS}/9.9.9/assets/b.gif"),
        ]
        after = await client.get(ONE)
    async with world.http.as_tenant(stranger.id) as client:
        foreign = await client.get(f"{ONE}/assets/logo.png")

    assert [r.status_code for r in (made, first, again, other, given, gone)] == [201, 200, 200, 200, 200, 204]
    assert first.headers["etag"] == again.headers["etag"] != other.headers["etag"]
    assert given.content == LOGO
    assert given.headers["content-type"] == "image/png"
    assert given.headers["x-content-type-options"] == "nosniff"
    assert [(a["name"], a["media_type"], a["size"]) for a in shown.json()["assets"]] == [
        ("b.gif", "image/gif", len(GIF)),
        ("logo.png", "image/png", len(LOGO)),
    ]
    assert [a["name"] for a in after.json()["assets"]] == ["logo.png"]
    assert [m.json()["code"] for m in missing] == [
        "template_asset_not_found",
        "template_asset_not_found",
        "template_version_not_found",
    ]
    assert foreign.status_code == 404


async def test_hostile_pictures_are_refused(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(VERSIONS, json=draft())
        refused = [
            await put(client, "logo.svg", SVG),
            await put(client, "logo.png", b"\x89PNG\r\n\x1a\n" + SVG),
            await put(client, "logo.gif", b"GIF89a/*" + SVG),
            await put(client, "logo.png", LOGO + SVG),
            await put(client, "large.png", png(MOST_BYTES)),
            await put(client, "Logo.png", LOGO),
            await put(client, "empty.png", b""),
            await put(client, "aux.png", LOGO),
        ]
        for n in range(20):
            assert (await put(client, f"{n}.gif", GIF)).status_code == 200
        refused.append(await put(client, "one-more.gif", GIF))
        shown = await client.get(ONE)

    assert [(r.status_code, r.json()["code"]) for r in refused] == [(400, "bad_value")] * 9, refused[0].text
    assert all(r.json()["errors"][0]["field"] in ("asset", "assets") for r in refused)
    assert len(shown.json()["assets"]) == 20


async def test_the_validator_knows_them(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(VERSIONS, json=showing("logo.png", "nowhere.png", "ticket@order"))
        await put(client, "logo.png", LOGO)
        await put(client, "idle.gif", GIF)
        report = (await client.post(f"{ONE}/validate")).json()
        refused = await client.post(f"{ONE}/publish")
        await put(client, "nowhere.png", JPEG)
        mended = (await client.post(f"{ONE}/validate")).json()

    [missing] = [f for f in report["findings"] if f["severity"] == "error"]
    assert (missing["file"], missing["line"], missing["locale"]) == (f"{HOME}/en/body.html", 3, "en")
    assert "nowhere.png" in missing["what"]
    assert "logo.png" in missing["how"]
    assert refused.json()["code"] == "template_unpublishable"
    assert mended["publishable"] is True
    assert [f["file"] for f in mended["findings"] if "picture" in f["what"]] == [f"{HOME}/assets/idle.gif"]


async def test_the_validator_looks_into_styles_and_mjml(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    wish = draft()
    wish["locales"]["en"]["body"] = "<p style=\"background:url('cid:paper.png')\">Hello {{name}}</p>"
    wish["locales"]["fa-AF"] |= {
        "format": "mjml",
        "body": "<mjml><mj-body><mj-section><mj-column>\n"
        '<mj-image src="cid:logo.png"/>\n<mj-image src="cid:nowhere.png"/>'
        "<mj-text>{{name}}</mj-text></mj-column></mj-section></mj-body></mjml>",
    }
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(VERSIONS, json=wish)
        await put(client, "logo.png", LOGO)
        report = (await client.post(f"{ONE}/validate")).json()
        for name in ("paper.png", "nowhere.png"):
            await put(client, name, GIF)
        mended = (await client.post(f"{ONE}/validate")).json()

    wrong = {f["locale"]: (f["file"], f["line"]) for f in report["findings"] if f["severity"] == "error"}
    assert wrong == {"en": (f"{HOME}/en/body.html", 1), "fa-AF": (f"{HOME}/fa-AF/body.mjml", 3)}
    assert mended["publishable"] is True
    assert not [f for f in mended["findings"] if "picture" in f["what"]]


async def test_what_was_published_keeps_its_pictures(world: TemplateWorld, db: Database) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(VERSIONS, json=showing("logo.png"))
        await put(client, "logo.png", LOGO)
        published = await client.post(f"{ONE}/publish")
        refused = [
            await put(client, "logo.png", GIF),
            await put(client, "new.png", GIF),
            await client.delete(f"{ONE}/assets/logo.png"),
        ]
        given = await client.get(f"{ONE}/assets/logo.png")
        await client.post(VERSIONS, json=later("1.1.0"))
        next_one = await put(client, "logo.png", GIF, f"{VERSIONS}/1.1.0")
        seen = {"If-Match": next_one.headers["etag"]}
        deleted = await client.delete(f"{VERSIONS}/1.1.0", headers=seen)

    assert published.status_code == 200, published.text
    assert {r.json()["code"] for r in refused} == {"template_not_draft"}
    assert given.content == LOGO
    assert deleted.status_code == 204, deleted.text
    for statement in (
        "UPDATE notification.template_assets SET content = 'x'",
        "DELETE FROM notification.template_assets",
        "UPDATE notification.template_versions SET assets = '{}' WHERE status <> 'draft'",
    ):
        with pytest.raises(DatabaseError):
            await _run(db, tenant.id, statement)


async def _run(db: Database, tenant_id: TenantId, statement: str) -> None:
    async with db.tenant(tenant_id) as tx:
        await tx.execute(Query(name="by_hand", why="a test", text=statement, parameters=()))


async def test_an_approval_was_for_other_pictures(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    machine: dict[str, Any] = {
        "ai_provenance": {"model": "m", "prompt_hash": "h", "requested_by": "somebody"}
    }
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(VERSIONS, json=draft(**machine))
    async with world.http.as_tenant(tenant.id) as client:
        approved = await client.post(f"{ONE}/approve")
        changed = await put(client, "logo.png", LOGO)

    assert approved.status_code == 200, approved.text
    assert approved.json()["approved_by"] is not None
    assert changed.json()["approved_by"] is None


async def test_a_preview_shows_them(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        await client.post(VERSIONS, json=showing("logo.png"))
        await put(client, "logo.png", LOGO)
        as_draft = await client.post(f"{ONE}/preview")
        page = await client.post(f"{ONE}/preview", headers={"Accept": "text/html"})
        await client.post(f"{ONE}/publish")
        published = await client.post(f"{ONE}/preview")

    shown = f"data:image/png;base64,{b64encode(LOGO).decode()}"
    assert f'src="{shown}"' in as_draft.json()["html"]
    assert f'src="{shown}"' in published.json()["html"]
    assert shown in page.text
    assert re.search(r"img-src [^;]*data:", page.headers["content-security-policy"])


async def test_a_zip_carries_them_byte_for_byte(world: TemplateWorld) -> None:
    files = bundle() | {
        f"{HOME}/en/body.html": b'<p>Hello {{name}} <img src="cid:logo.png" alt="">\n</p>\n',
        f"{HOME}/assets/logo.png": LOGO,
        f"{HOME}/assets/idle.gif": GIF,
    }
    one, other = await world.http.tenant(), await world.http.tenant()
    async with world.http.as_tenant(one.id) as client:
        report = await _take(client, files)
        again = await _take(client, files)
        first = await client.get("/api/v1/templates/export")
        fewer = await _take(client, {path: raw for path, raw in files.items() if "idle" not in path})
        left = await client.get(ONE)
        await client.post(f"{ONE}/publish")
        changed = await _take(client, files | {f"{HOME}/assets/logo.png": JPEG})
    async with world.http.as_tenant(other.id) as client:
        await client.post(
            "/api/v1/templates/import", content=first.content, headers={"Content-Type": "application/zip"}
        )
        second = await client.get("/api/v1/templates/export")

    assert {line["outcome"] for line in report.json()["files"]} == {"taken"}, report.text
    assert report.json()["publishable"] is True
    assert again.json()["templates"][0]["outcome"] == "unchanged"
    assert first.content == second.content
    with zipfile.ZipFile(io.BytesIO(first.content)) as packed:
        assert packed.read(f"{HOME}/assets/logo.png") == LOGO
        assert packed.read(f"{HOME}/assets/idle.gif") == GIF
    assert fewer.json()["templates"][0]["outcome"] == "replaced"
    assert [a["name"] for a in left.json()["assets"]] == ["logo.png"]
    assert changed.json()["code"] == "template_bundle_refused"


async def test_hostile_files_of_a_zip_are_refused_by_name(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        refused = await _take(
            client,
            bundle()
            | {
                f"{HOME}/assets/logo.svg": SVG,
                f"{HOME}/assets/Upper.png": LOGO,
                f"{HOME}/assets/large.png": png(MOST_BYTES),
                f"{HOME}/assets/deep/logo.png": LOGO,
            },
        )
        many = await _take(client, bundle() | {f"{HOME}/assets/{n}.gif": GIF for n in range(21)})
        there = await client.get(VERSIONS)

    assert {wrong["field"].removeprefix(f"{HOME}/assets/") for wrong in refused.json()["errors"]} == {
        "logo.svg",
        "Upper.png",
        "large.png",
        "deep/logo.png",
    }
    assert [wrong["field"] for wrong in many.json()["errors"]] == [f"{HOME}/assets"]
    assert there.status_code == 404


async def test_the_platforms_templates_have_pictures_too(world: TemplateWorld) -> None:
    tenant = await world.http.tenant()
    path = "/api/v1/templates/picture_book/email/versions"
    async with world.http.as_platform() as client:
        made = await client.post(path, json=showing("logo.png"))
        await put(client, "logo.png", LOGO, f"{path}/1.0.0")
        published = await client.post(f"{path}/1.0.0/publish")
        frozen = await put(client, "logo.png", GIF, f"{path}/1.0.0")
    assert (made.status_code, published.status_code, frozen.status_code) == (201, 200, 409), published.text
    found = await world.templates.resolve(tenant.id, "picture_book", "email")
    pictures = await world.templates.pictures(tenant.id, found)
    assert pictures["logo.png"].content == LOGO
    assert await world.templates.pictures(tenant.id, found) is pictures, "read once"


async def _take(client: httpx2.AsyncClient, files: dict[str, bytes]) -> httpx2.Response:
    return await client.post(
        "/api/v1/templates/import", content=zipped(files), headers={"Content-Type": "application/zip"}
    )
