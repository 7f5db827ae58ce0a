"""Opens the hot state that a URL names."""

from typing import TYPE_CHECKING, Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.errors import NotConfiguredError
from tidings.kernel.local_hot_state import LocalHotState
from tidings.kernel.secrets import Secret

if TYPE_CHECKING:
    from tidings.kernel.hot_state_takeover import LeaderObserver, TakeoverHotState

#: Where a change is announced, and the one thing that is said there.
HOT_STATE_CHANNEL: Final = "tidings_hot_state"
HOT_STATE_PAYLOAD: Final = "changed"


def open_hot_state(
    url: Secret | None,
    db: Database,
    clock: Clock,
    *,
    observer: "LeaderObserver | None" = None,
    wake: Wakeup | None = None,
) -> "LocalHotState | TakeoverHotState":
    """Postgres alone for None and `postgres:`; Redis or Valkey with Postgres behind it for their URLs."""
    scheme = url.reveal().partition(":")[0] if url is not None else "postgres"
    if scheme == "postgres" or url is None:
        return LocalHotState(db, clock)
    if scheme not in {"redis", "rediss", "valkey", "valkeys"}:
        raise NotConfiguredError(
            "the hot state URL names a service that is not supported; supported: postgres:, redis://, rediss://, "
            "valkey://, valkeys://"
        )
    # Only here: the client is an extra.
    from tidings.kernel.hot_state_takeover import TakeoverHotState

    return TakeoverHotState(url, db, clock, observer=observer, wake=wake)
