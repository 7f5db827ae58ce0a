"""Invitations go out as messages of the tenant; nobody but the recipient reads their words."""

from typing import Any

from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tests.support.platform_templates import publish_platform_template
from tidings.contracts.operator_notices import INVITATION
from tidings.notify.tenants.model import Tenant

WHO = {"name": "Omar Safi", "email": "omar@example.com", "role": "tenant.viewer"}


async def messages(admin: SignedIn) -> list[dict[str, Any]]:
    found = await admin.get(f"/api/v1/notifications?template={INVITATION}")
    assert found.status_code == 200, found.text
    return list(found.json()["items"])


async def test_an_invitation_is_a_message_of_the_tenant(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    await publish_platform_template(world, INVITATION)
    order = {**WHO, "by_mail": True, "language": "fa-AF"}
    answer = await admin.post("/bff/v1/operators", order, attested="operator.invite")
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert made["is_mailed"] is True
    assert made["join_url"]

    [message] = await messages(admin)
    assert (message["category"], message["channel"]) == ("security", "email")
    person = (await admin.get(f"/api/v1/recipients/{message['recipient_id']}")).json()
    assert person["identity"] == {"type": "user", "id": f"operator:{made['operator']['id']}"}
    assert person["locale"] == "fa-AF"
    body = await admin.get(f"/api/v1/notifications/{message['id']}/body")
    assert (body.status_code, body.json()["code"]) == (403, "body_withheld")
    support = await an_operator(world, tenant.id, role="tenant.support", email="support")
    archive = await support.get(f"/api/v1/recipients/{message['recipient_id']}/archive")
    assert made["join_url"].rpartition("/")[2] not in archive.text


async def test_it_is_sent_once_with_the_invitation_or_not_at_all(world: HttpWorld, admin: SignedIn) -> None:
    """Somebody who is an operator already is not mailed; an order that is repeated mails once."""
    await publish_platform_template(world, INVITATION)
    taken = {**WHO, "email": admin.who.email, "by_mail": True}
    refused = await admin.post("/bff/v1/operators", taken, attested="operator.invite")
    assert refused.status_code == 409
    assert await messages(admin) == []
    key = {"Idempotency-Key": "once"}
    for _ in range(2):
        answer = await admin.post(
            "/bff/v1/operators", {**WHO, "by_mail": True}, attested="operator.invite", **key
        )
        assert answer.status_code == 201, answer.text
    assert answer.json()["join_url"] is None
    assert len(await messages(admin)) == 1


async def test_a_mail_that_can_not_go_out_leaves_the_link(world: HttpWorld, admin: SignedIn) -> None:
    await publish_platform_template(world, INVITATION)
    at = admin.browser

    async def invited(email: str) -> str:
        await at.open("/console/operators")
        form: dict[str, Any] = {**WHO, "email": email, "by_mail": "on", "code": await admin.who.code()}
        return (await at.post("/console/operators", **form)).text

    refused = await invited(f"sara@{'x' * 70}")
    assert "could not be mailed" in refused
    assert "/console/join/" in refused
    assert await messages(admin) == []
    assert "on its way by mail" in await invited("sara@example.com")
    assert len(await messages(admin)) == 1
