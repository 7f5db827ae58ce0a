"""Questions to JetStream's API, over the connection of the process."""

from typing import Any, Final

import msgspec

from tidings.kernel.nats_bus.connection import NatsConnection
from tidings.kernel.nats_bus.errors import JetStreamError

NO_STREAM: Final = 10059
NO_CONSUMER: Final = 10014


async def ask(connection: NatsConnection, verb: str, **payload: Any) -> dict[str, Any]:
    """What JetStream answers; a `JetStreamError` where it refuses."""
    answer: dict[str, Any] = msgspec.json.decode(
        await connection.request(f"$JS.API.{verb}", msgspec.json.encode(payload) if payload else b"")
    )
    if "error" in answer:
        error = answer["error"]
        raise JetStreamError(error.get("err_code", 0), str(error.get("description", "refused")))
    return answer
