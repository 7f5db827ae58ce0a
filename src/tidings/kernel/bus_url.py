"""Opens the bus that a URL names."""

from typing import TYPE_CHECKING

from tidings.kernel.bus import BusObserver
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.errors import BadValueError, NotConfiguredError
from tidings.kernel.postgres_bus import PostgresBus, PostgresBusSettings
from tidings.kernel.secrets import Secret, SecretResolver

if TYPE_CHECKING:
    from tidings.kernel.nats_bus.bus import NatsBus


def open_bus(
    url: Secret | None,
    database_url: str,
    db: Database,
    *,
    clock: Clock,
    observer: BusObserver | None = None,
    settings: PostgresBusSettings | None = None,
    secrets: SecretResolver | None = None,
) -> "PostgresBus | NatsBus":
    """The stream in Postgres for None and `postgres:`; on NATS JetStream for `nats://` and `tls://`."""
    if url is None or url.reveal() == "postgres:":
        return PostgresBus(database_url, db, clock=clock, observer=observer, settings=settings)
    from tidings.kernel.nats_bus.address import parse_address

    try:
        address = parse_address(url)
    except BadValueError as error:
        raise NotConfiguredError(str(error)) from None
    # Only here: the client is an extra.
    from tidings.kernel.nats_bus.bus import NatsBus

    return NatsBus(
        database_url, db, address, clock=clock, observer=observer, settings=settings, secrets=secrets
    )
