"""The bus on Postgres: outbox → relay → stream → consumer groups. See `docs/bus.md`."""

from tidings.kernel.postgres_bus.bus import PostgresBus, PostgresBusSettings
from tidings.kernel.postgres_bus.consumer import Consumer, ConsumerSettings
from tidings.kernel.postgres_bus.dead_letters import PostgresDeadLetters
from tidings.kernel.postgres_bus.relay import Relay, RelaySettings
from tidings.kernel.postgres_bus.wakeups import Wakeups, WakeupSettings

__all__ = [
    "Consumer",
    "ConsumerSettings",
    "PostgresBus",
    "PostgresBusSettings",
    "PostgresDeadLetters",
    "Relay",
    "RelaySettings",
    "WakeupSettings",
    "Wakeups",
]
