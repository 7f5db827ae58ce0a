"""What reading executions needs; `bootstrap` fills it."""

from collections.abc import Callable
from dataclasses import dataclass

from tidings.kernel.audit.log import AuditLog
from tidings.kernel.blobs.store import BlobStore
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.keys.keyring import Keyring


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that reading executions touches."""

    db: Database
    clock: Clock
    #: Opens what vendors answered.
    keyring: Keyring
    blobs: Callable[[], BlobStore]
    #: Notes who has read it.
    audit: AuditLog
