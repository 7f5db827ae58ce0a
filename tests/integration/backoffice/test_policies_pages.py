"""Operators build ladders in the console: they move steps, simulate, save, undo, roll back, delete and restore."""

from html import escape
from typing import Any

from tests.support.http import HttpWorld
from tests.support.inbox import publish
from tests.support.operators import SignedIn, an_operator
from tidings.notify.tenants.model import Tenant

FORM: dict[str, Any] = {
    "use_case": "otp",
    "strategy": "SEQUENTIAL",
    "order": "fixed",
    "currency": "USD",
    "ttl": "86400",
    "steps": "2",
    "s0.channel": "sms",
    "s0.deadline": "20",
    "s0.success": "delivered",
    "s1.channel": "email",
    "s1.deadline": "60",
    "s1.success": "accepted",
    "s1.prefixes": "",
}


async def policies(who: SignedIn) -> list[Any]:
    return (await who.get("/api/v1/router/policies?deleted=true")).json()["items"]  # type: ignore[no-any-return]


def channels(policy: Any) -> list[str]:
    return [step["channel"] for step in policy["ladder"]]


async def test_a_ladder_is_made_and_an_undo_brings_the_one_before_back(admin: SignedIn) -> None:
    at = admin.browser
    await at.open("/console/policies/new?use_case=otp")
    await at.post("/console/policies/new", **FORM, do="save")
    assert "The ladder is saved." in at.html
    [made] = await policies(admin)
    path = f"/console/policies/{made['id']}"

    shown = (await at.open(path)).text
    assert f'name="etag" value="{escape(chr(34))}v1{escape(chr(34))}"' in shown
    changed = {**FORM, "s0.channel": "whatsapp", "etag": '"v1"'}
    await at.post(path, **changed, do="save")
    assert "The ladder is saved." in at.html, at.html
    assert channels((await policies(admin))[0]) == ["whatsapp", "email"]
    assert ">Undo<" in at.html

    await at.post(f"{path}/rollback", csrf=admin.csrf, version="1", etag='"v2"')
    assert channels((await policies(admin))[0]) == ["sms", "email"]
    versions = (await at.open(f"{path}/versions")).text
    assert "Version 3" in versions
    assert "<del>- step: channel whatsapp" in versions

    await at.post(f"{path}/delete", csrf=admin.csrf)
    assert "The ladder is deleted." in at.html
    await at.post(f"{path}/restore", csrf=admin.csrf)
    assert (await policies(admin))[0]["deleted_at"] is None


async def test_buttons_move_add_and_remove_steps_and_keep_what_was_typed(admin: SignedIn) -> None:
    at = admin.browser
    await at.open("/console/policies/new")
    await at.post("/console/policies/new", **FORM, do="down-0")
    html = at.html
    assert html.index('value="email" selected') < html.index('value="sms" selected')
    assert 'name="s0.deadline" id="s0.deadline" value="60"' in html

    await at.post("/console/policies/new", **FORM, do="add")
    assert 'name="s2.channel"' in at.html
    await at.post("/console/policies/new", **FORM, do="remove-0")
    assert 'name="s1.channel"' not in at.html
    assert await policies(admin) == []


async def test_what_is_wrong_stands_beside_its_field(admin: SignedIn) -> None:
    at = admin.browser
    await at.open("/console/policies/new")
    wrong = {**FORM, "s1.deadline": "soon<b>", "description": "<script>alert(1)</script>"}
    refused = await at.post("/console/policies/new", **wrong, do="save")

    assert refused.status_code == 400
    assert 'id="s1.deadline-error"' in at.html
    assert "soon&lt;b&gt;" in at.html
    assert "<script>alert" not in at.html

    deep = await at.post("/console/policies/new", **{**FORM, "steps": "99999999999"}, do="refresh")
    assert deep.status_code == 200


async def test_the_simulator_says_what_would_happen_and_writes_nothing(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    async with world.as_tenant(tenant.id) as key:
        await publish(key)
    at = admin.browser
    await at.open("/console/policies/new")
    message: dict[str, Any] = {
        "recipient": "laila@example.test",
        "template": "parcel",
        "variables": '{"title": "A-1"}',
    }
    shown = await at.post("/console/policies/preview", **FORM, **message)

    assert shown.status_code == 200, at.html
    assert "skipped" in at.html
    assert "If nothing answers" in at.html
    assert await policies(admin) == []

    message["template"] = "no_such<template>"
    await at.post("/console/policies/new", **FORM, **message, do="simulate")
    assert 'role="alert"' in at.html
    assert "<template>" not in at.html


async def test_a_viewer_simulates_and_saves_nothing(world: HttpWorld, tenant: Tenant) -> None:
    viewer = await an_operator(world, tenant.id, role="tenant.viewer")
    at = viewer.browser
    assert "Make one" not in (await at.open("/console/policies")).text
    refused = await at.post("/console/policies/new", **FORM, do="save", csrf=viewer.csrf)
    assert refused.status_code == 403
    assert await policies(viewer) == []
