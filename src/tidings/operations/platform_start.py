"""What a platform needs before its first tenant: templates, categories, a key. Made once, missed at every start."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Final

from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.notify.access.first_key import PlatformKey, ensure_platform_key
from tidings.notify.access.ledger import KeyLedger
from tidings.notify.categories.store import load_categories
from tidings.notify.templates.authoring import TenantAuthoring
from tidings.notify.templates.platform import publish_platform_set, unpublished
from tidings.notify.templates.publish import TemplatePublisher
from tidings.notify.triggers.shipped_sets import publish_trigger_sets
from tidings.operations.partitions.missing_message import REMEDY, missing_words
from tidings.operations.partitions.store import missing_partitions

#: More names than these help no operator.
_NAMED: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class StartReport:
    """What a start found and made."""

    published: int
    #: Triggers of the shipped sets that are new or changed.
    triggers: int
    categories: int
    #: None where no key was asked for.
    key: PlatformKey | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlatformStart:
    """Makes what is missing; done again, or by two at once, it changes nothing."""

    db: Database
    _: KW_ONLY
    engine: TenantAuthoring
    publisher: TemplatePublisher
    ledger: KeyLedger
    audit: AuditLog
    clock: Clock

    async def publish(self) -> int:
        """Publish the platform's templates; how many were not yet."""
        return await publish_platform_set(self.db, engine=self.engine, publisher=self.publisher)

    async def publish_triggers(self) -> int:
        """Publish the platform's sets of triggers; how many are new or changed. None of them fires before a tenant adopts its set."""
        return await publish_trigger_sets(self.db, audit=self.audit, clock=self.clock)

    async def key(self, *, name: str, actor: str, one_more: bool = False) -> PlatformKey:
        """The platform's first key, or the one that is there."""
        return await ensure_platform_key(
            self.db, name=name, actor=actor, ledger=self.ledger, clock=self.clock, one_more=one_more
        )

    async def start(self, *, key_name: str | None, actor: str, one_more_key: bool = False) -> StartReport:
        """All of it; the key last, so that who holds it finds everything there, and none without a name for it."""
        published = await self.publish()
        triggers = await self.publish_triggers()
        async with self.db.platform() as tx:
            categories = await load_categories(tx)
        key = await self.key(name=key_name, actor=actor, one_more=one_more_key) if key_name else None
        return StartReport(published=published, triggers=triggers, categories=len(categories), key=key)


async def what_is_missing(db: Database, clock: Clock, *, makes_partitions: bool = False) -> Sequence[str]:
    """One line for each thing that the installation lacks, with how to get it; none where all is there.

    `makes_partitions`: this process is about to make them itself.
    """
    async with db.platform() as tx:
        partitions = [] if makes_partitions else await missing_partitions(tx.connection, clock.now())
        categories = await load_categories(tx)
    templates = await unpublished(db)
    found = []
    if partitions:
        found.append(f"{missing_words(partitions)}: {REMEDY}")
    if not categories:
        found.append("the platform's categories are missing: run `tidings migrate up`")
    if templates:
        names = ", ".join(templates[:_NAMED]) + (", …" if len(templates) > _NAMED else "")
        found.append(
            f"{len(templates)} of the platform's templates are missing ({names}): run `tidings bootstrap`"
        )
    return found
