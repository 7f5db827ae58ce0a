"""Suppressions as JSON: what requests bring and answers show."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tidings.contracts.addresses import NormalisedAddress, normalise, redact
from tidings.contracts.ids import NOTIFICATION
from tidings.contracts.moments import Moment
from tidings.contracts.text import Reason as Words
from tidings.kernel.audit.record import AuditRow
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.mapping import by_name
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.ids import SUPPRESSION, SuppressionId
from tidings.notify.suppressions.counts import Count
from tidings.notify.suppressions.model import (
    SuppressibleChannel,
    Suppression,
    SuppressionFilter,
    SuppressionReason,
    SuppressionSpec,
    brought_by,
    domain_of,
    sealing_purpose,
    whole_domain,
)


class CreateSuppression(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An address that is not to be written to."""

    channel: SuppressibleChannel
    address: Annotated[str, Meta(min_length=1, max_length=4096)] | UnsetType = UNSET
    #: Instead of an address: every address of this domain, and none of its subdomains.
    mail_domain: Annotated[str, Meta(min_length=1, max_length=253)] | UnsetType = UNSET
    reason: SuppressionReason = SuppressionReason.MANUAL
    #: Left out: for good.
    expires_at: Moment | None = None
    #: For people; not for personal data.
    notes: Words | None = None
    #: The notification that it was learned from.
    source_notification_id: Annotated[str, Meta(max_length=40)] | None = None

    def spec(self, now: datetime) -> SuppressionSpec:
        """The same, checked; an `InvalidError` that names every wrong field."""
        wrong: list[FieldError] = []
        spelt = None
        try:
            spelt = self._target()
        except BadValueError as error:
            wrong.append(FieldError(error.field, error.remedy))
        if self.expires_at is not None and self.expires_at <= now:
            wrong.append(FieldError("expires_at", "must lie in the future; leave it out for good"))
        if self.source_notification_id is not None:
            try:
                NOTIFICATION.parse(self.source_notification_id, field="source_notification_id")
            except BadValueError as error:
                wrong.append(FieldError(error.field, error.remedy))
        if wrong or spelt is None:
            raise InvalidError(wrong)
        return by_name(SuppressionSpec, self, address=spelt, occurred_at=None)

    def _target(self) -> NormalisedAddress:
        if isinstance(self.mail_domain, UnsetType):
            if isinstance(self.address, UnsetType):
                raise BadValueError("address", "is required, or a mail_domain")
            return normalise(self.channel, self.address)
        if not isinstance(self.address, UnsetType):
            raise BadValueError(
                "mail_domain", "stands for all addresses of a domain; leave it out beside an address"
            )
        if self.channel != "email":
            raise BadValueError("mail_domain", "is for the channel email only")
        return whole_domain(self.mail_domain)


class ListSuppressions(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which suppressions are wanted."""

    channel: SuppressibleChannel | None = None
    reason: SuppressionReason | None = None
    #: `true` shows those too that hold nothing back any more.
    released: Literal["true", "false"] = "false"


class LookUpSuppressions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An address that may be suppressed. In the body: addresses in URLs end up in other people's logs."""

    #: A telephone number is looked for on `sms`, `whatsapp` and `voice`, whichever is named.
    channel: SuppressibleChannel
    address: Annotated[str, Meta(min_length=1, max_length=4096)]

    def __repr__(self) -> str:
        return f"LookUpSuppressions({self.channel}, ***)"


class FoundSuppressions(Struct, frozen=True, kw_only=True):
    """All suppressions of an address, or of its whole mail domain: those in force first, then the newest."""

    items: list["SuppressionView"]


class ReleaseQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why it is released."""

    #: For the audit.
    reason: Words | None = None


class ReleaseSuppressions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which suppressions are released, and why."""

    ids: Annotated[list[Annotated[str, Meta(max_length=40)]], Meta(min_length=1, max_length=500)]
    #: For the audit.
    reason: Words | None = None

    def named(self) -> list[SuppressionId]:
        """The ids, each once; an `InvalidError` that names those that are none."""
        found: dict[SuppressionId, None] = {}
        wrong: list[FieldError] = []
        for place, text in enumerate(self.ids):
            try:
                found[SUPPRESSION.parse(text, field=f"ids[{place}]")] = None
            except BadValueError as error:
                wrong.append(FieldError(error.field, error.remedy))
        if wrong:
            raise InvalidError(wrong)
        return list(found)


class ReleasedSuppressions(Struct, frozen=True, kw_only=True):
    """What came of it."""

    released: int
    #: Those that held nothing back any more, or are none of the tenant's.
    passed_over: int


class SuppressionView(Struct, frozen=True, kw_only=True):
    """A suppression."""

    id: str
    channel: SuppressibleChannel
    #: A hint such as `l…@e….test`; null where only the hash is known, or a whole domain is meant.
    address: str | None
    #: Where every address of a domain is meant.
    mail_domain: str | None
    reason: SuppressionReason
    notes: str | None
    source_notification_id: str | None
    expires_at: Moment | None
    released_at: Moment | None
    released_by: str | None
    created_at: Moment
    #: When it happened, by the list that it was imported with; otherwise when it was added.
    occurred_at: Moment

    @classmethod
    def of(cls, suppression: Suppression, key: DataKey | None) -> "SuppressionView":
        """The suppression as it is shown."""
        clear = opened(suppression, key)
        domain = None if clear is None else domain_of(clear)
        return by_name(
            cls,
            suppression,
            address=None if clear is None or domain else redact(clear),
            mail_domain=domain,
            occurred_at=suppression.since,
        )


class ReasonCounts(Struct, frozen=True, kw_only=True):
    """How many there are on one channel."""

    total: int
    by_reason: dict[SuppressionReason, int]


class SuppressionStats(Struct, frozen=True, kw_only=True):
    """How many suppressions are in force; to compare with what another service counted."""

    total: int
    by_channel: dict[str, ReasonCounts]
    by_reason: dict[SuppressionReason, int]

    @classmethod
    def of(cls, counts: Sequence[Count]) -> "SuppressionStats":
        """The counts as they are shown."""
        by_channel: dict[str, dict[SuppressionReason, int]] = {}
        by_reason: dict[SuppressionReason, int] = {}
        for count in counts:
            by_channel.setdefault(count.channel, {})[count.reason] = count.in_force
            by_reason[count.reason] = by_reason.get(count.reason, 0) + count.in_force
        return cls(
            total=sum(by_reason.values()),
            by_channel={
                channel: ReasonCounts(total=sum(found.values()), by_reason=found)
                for channel, found in by_channel.items()
            },
            by_reason=by_reason,
        )


class ExportSuppressionsQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the export is to hold."""

    channel: SuppressibleChannel | None = None
    reason: SuppressionReason | None = None
    #: `true` holds those too that hold nothing back any more.
    released: Literal["true", "false"] = "false"
    #: `true` shows the addresses; needs `suppressions:write` and is audited.
    reveal: Literal["true", "false"] = "false"


def filter_of(query: ListSuppressions | ExportSuppressionsQuery) -> SuppressionFilter:
    """Which suppressions a query asks for."""
    return by_name(SuppressionFilter, query, with_released=query.released == "true")


class HistoryItem(Struct, frozen=True, kw_only=True):
    """One thing that happened to a suppression."""

    at: Moment
    #: `added` or `released`; `occurred` where another service had suppressed it before.
    what: str
    #: The user, the key or the import (`imp_…`) that did it; `system:expired` where its time was over.
    by: str
    #: In the words of the one who did it.
    why: str | None


class History(Struct, frozen=True, kw_only=True):
    """All that happened to a suppression, the oldest first."""

    items: list[HistoryItem]

    @classmethod
    def of(cls, suppression: Suppression, audited: Sequence[AuditRow]) -> "History":
        """From the audit; what is not audited one by one (imports, make-room releases) from the row itself."""
        found = {
            row.action: HistoryItem(at=row.occurred_at, what=row.action, by=row.actor, why=row.reason)
            for row in audited
        }
        # Notes are free text: of them only the import that wrote them counts. An erasure takes that too.
        by = brought_by(suppression.notes) or "import"
        found.setdefault("added", HistoryItem(at=suppression.created_at, what="added", by=by, why=None))
        if suppression.occurred_at is not None:
            found["occurred"] = HistoryItem(
                at=suppression.occurred_at, what="occurred", by=found["added"].by, why=None
            )
        if suppression.released_at is not None:
            found.setdefault(
                "released",
                HistoryItem(
                    at=suppression.released_at,
                    what="released",
                    by=suppression.released_by or "system",
                    why=None,
                ),
            )
        return cls(items=sorted(found.values(), key=lambda item: item.at))


def opened(suppression: Suppression, key: DataKey | None) -> str | None:
    """The address, or `@domain`; None where only its hash is left."""
    if key is None or suppression.address_ciphertext is None:
        return None
    try:
        return key.unseal(suppression.address_ciphertext, sealing_purpose(suppression.channel)).decode()
    except DestroyedKeyError:
        return None
