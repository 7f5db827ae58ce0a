"""What the recipients' use cases need; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.contracts.profiles import MailboxNews
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.outbox import Outbox
from tidings.notify.categories.registry import Categories


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that recipients touch."""

    db: Database
    clock: Clock
    keyring: Keyring
    categories: Categories
    mailboxes: MailboxNews
    #: Of the schema `notification`.
    outbox: Outbox
    #: Of the schema `notification`.
    audit: AuditLog
