"""What the use cases of API keys need; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.idempotency import Idempotency
from tidings.notify.access.authenticate import KeyAuthenticator
from tidings.notify.access.ledger import KeyLedger


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that making and ending keys touches."""

    db: Database
    clock: Clock
    ledger: KeyLedger
    #: Of the schema `notification`.
    idempotency: Idempotency
    #: Told at once when this process changes a key.
    keys: KeyAuthenticator
