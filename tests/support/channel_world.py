"""The application and its vendors' side over a test's database, with a folder for secrets and a clock moved by hand."""

from pathlib import Path
from typing import Any

import httpx2

from tests.support.http import HttpWorld
from tests.support.people import unused
from tests.support.senders import any_sender
from tests.support.system import LOOPBACK, now_clock, system_over
from tidings.contracts.tenants import NotificationPolicy
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId


class ChannelWorld:
    """Tenants' own accounts may lead to loopback here, as an operator would allow it."""

    def __init__(self, db: Database, folder: Path, **chosen: str) -> None:
        self.clock = now_clock()
        self.folder = folder
        environment = {
            "TIDINGS_SECRETS_DIR": str(folder / "secrets"),
            "TIDINGS_TENANT_NETWORKS": LOOPBACK,
        }
        self.system = system_over(db, None, self.clock, **(environment | chosen))
        self.http = HttpWorld(make_app=lambda: self.system.app, system=self.system, answered=[])

    async def tenant(self, policy: NotificationPolicy | None = None, *, grants: bool = True) -> TenantId:
        """A new one, with its keys; `grants`: the senders that the policy does not list are granted too."""
        wanted = any_sender(policy) if grants else policy or NotificationPolicy()
        made = await self.http.tenant(f"t-{unused()}", notification_policy=wanted)
        async with self.system.db.tenant(made.id) as tx:
            await self.system.kernel.keyring.provision(tx)
        return made.id

    def secret(self, tenant_id: TenantId, name: str, content: str) -> str:
        """A secret of the tenant's own, and the reference to it."""
        folder = self.folder / "secrets" / tenant_id
        folder.mkdir(parents=True, exist_ok=True)
        fresh = folder / f".{name}"
        fresh.write_text(content)
        fresh.replace(folder / name)
        return f"file://{name}"

    async def close(self) -> None:
        """End the connections to vendors; the database is the test's."""
        await self.system.vendors.vendors.close()


async def put_channel(
    client: httpx2.AsyncClient, ref: str | None, channel: str = "email", vendor: str = "smtp", **more: Any
) -> dict[str, Any]:
    """A channel over an account of one's own."""
    sender = {"from_address": "hello@acme.test"} if channel == "email" else {"sender_id": "ACME"}
    body: dict[str, Any] = {"vendor": vendor, "sender": sender, **more}
    if ref is not None:
        body["accounts"] = {vendor: {"secret_ref": ref}}
    answer = await client.put(f"/api/v1/channels/{channel}", json=body)
    assert answer.status_code == 200, answer.text
    made: dict[str, Any] = answer.json()
    return made
