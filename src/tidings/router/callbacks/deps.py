"""What the routes of callbacks need; `bootstrap` fills it."""

from collections.abc import Callable
from dataclasses import dataclass

from tidings.kernel.blobs.store import BlobStore
from tidings.kernel.db import Database
from tidings.kernel.durable.wakeup import Wakeup
from tidings.router.callbacks.dead_letters import DeadCallbacks
from tidings.router.callbacks.receive_callback import CallbackEndpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that callbacks touch."""

    db: Database
    desk: CallbackEndpoint
    dead: DeadCallbacks
    blobs: Callable[[], BlobStore]
    wakeup: Wakeup
