"""Credentials, the closing of a tenant and raw bodies: operators attest them, keys do them as before."""

from typing import Any

import pytest

from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tidings.notify.tenants.model import Tenant

INBOX = {"vendor": "inapp"}
OWN = {"http_acme": {"secret_ref": "sealed://smtp"}}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/api/v1/router/secrets/smtp", {"value": "s3cret"}),
        ("DELETE", "/api/v1/router/secrets/smtp", None),
        ("PUT", "/api/v1/channels/sms", {**INBOX, "accounts": OWN}),
        ("POST", "/api/v1/channels/sms/credentials/rotate", {"secret_ref": "sealed://smtp"}),
        ("POST", "/api/v1/router/adapters", {"vendor": "smtp", "secret_ref": "sealed://smtp"}),
    ],
)
async def test_an_operator_attests_a_change_of_credentials(
    admin: SignedIn, method: str, path: str, body: Any
) -> None:
    refused = await admin.send(method, path, body)
    assert (refused.status_code, refused.json()["code"]) == (403, "attestation_required")

    let_in = await admin.send(method, path, body, attested="credential.change")
    assert let_in.status_code != 403


async def test_what_touches_no_credential_needs_no_attestation(admin: SignedIn) -> None:
    assert (await admin.send("PUT", "/api/v1/channels/inapp", INBOX)).status_code == 200


async def test_a_key_changes_credentials_without(world: HttpWorld, tenant: Tenant) -> None:
    async with world.as_tenant(tenant.id) as key:
        kept = await key.put("/api/v1/router/secrets/smtp", json={"value": "s3cret"})
    assert kept.status_code == 200


async def test_the_platform_attests_that_a_tenant_is_closed_and_opens_it_without(
    world: HttpWorld, tenant: Tenant
) -> None:
    boss = await an_operator(world, None)
    path = f"/internal/v1/tenants/{tenant.id}"
    for verb, again in (("freeze", "unfreeze"), ("suspend", "resume")):
        assert (await boss.post(f"{path}/{verb}")).json()["code"] == "attestation_required"
        assert (await boss.post(f"{path}/{verb}", attested="tenant.close")).status_code == 200
        assert (await boss.post(f"{path}/{again}")).status_code == 200
