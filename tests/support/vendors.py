"""Messages to send and adapters to send them with, for the tests of the vendor side."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

from tidings.contracts.adapters import Adapter
from tidings.contracts.messages import Address, OutboundMessage
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import TenantId
from tidings.kernel.secrets import Secret, SecretNotFoundError
from tidings.router.adapters.registry import AdapterContext, open_adapter
from tidings.router.adapters.shared_pools import SharedPools

MESSAGE = OutboundMessage(
    message_id="ntf_01JCQ8ZK6T9Y4M2V7N5B3D1F0G",
    tenant_id="tnt_01JCQ8ZK6T9Y4M2V7N5B3D1F0G",
    channel="email",
    sender=Address(value="orders@shop.example", name="Green Shop"),
    to="laila.unmistakable@example.test",
    to_name="Laila Unmistakable",
    subject="Your most private order",
    html="<p>The secret of the tea</p>",
    text="The secret of the tea",
)
#: None of these may come back in a reason, a repr or a log.
PRIVATE = ("laila", "unmistakable", "private order", "secret of the tea", "hunter2")
LONG = timedelta(seconds=30)


def messages(count: int, **changes: Any) -> list[OutboundMessage]:
    """So many, each with its own id and address."""
    return [
        replace(
            MESSAGE,
            message_id=f"ntf_01JCQ8ZK6T9Y4M2V7N5B{i:06d}",
            to=f"laila.unmistakable.{i}@example.test",
            **changes,
        )
        for i in range(count)
    ]


class KnownSecrets:
    """Finds what it was given."""

    def __init__(self, **known: str) -> None:
        self._known = known

    async def resolve(
        self, ref: str, *, tenant_id: TenantId | None = None, field: str = "secret_ref"
    ) -> Secret:
        """The secret behind `known://name`."""
        try:
            return Secret(self._known[ref.removeprefix("known://")])
        except KeyError:
            raise SecretNotFoundError(f"{field}: there is no such secret") from None


@asynccontextmanager
async def opened(
    name: str, settings: dict[str, Any], pools: SharedPools | None = None, /, **secrets: str
) -> AsyncIterator[Adapter]:
    """The adapter, closed in the end; it has connections of its own unless it is given `pools`."""
    around = AdapterContext(clock=SystemClock(), pools=pools or SharedPools())
    adapter = await open_adapter(name, settings, KnownSecrets(**secrets), surroundings=around)
    try:
        yield adapter
    finally:
        await adapter.close()


def smtp_settings(port: int, **more: Any) -> dict[str, Any]:
    """A server in the clear on loopback."""
    return {"host": "127.0.0.1", "port": port, "security": "none", "timeout_seconds": 5.0, **more}


def http_settings(port: int, **more: Any) -> dict[str, Any]:
    """A vendor on loopback."""
    return {"url": f"http://127.0.0.1:{port}/send", "timeout_seconds": 5.0, "message_id_path": "id", **more}
