"""Suppressions as JSON: what requests bring and answers show."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from tidings.contracts.moments import Moment
from tidings.contracts.text import Reason as Words
from tidings.kernel.addresses import normalise, redact
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.ids import NOTIFICATION
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.suppressions.model import (
    Reason,
    SuppressibleChannel,
    Suppression,
    SuppressionWish,
    sealing_purpose,
)


class CreateSuppression(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An address that is not to be written to."""

    channel: SuppressibleChannel
    address: Annotated[str, Meta(min_length=1, max_length=4096)]
    reason: Reason = Reason.MANUAL
    #: Left out: for good.
    expires_at: Moment | None = None
    #: For people; not for personal data.
    notes: Words | None = None
    #: The notification that it was learned from.
    source_notification_id: Annotated[str, Meta(max_length=40)] | None = None

    def wish(self, now: datetime) -> SuppressionWish:
        """The same, checked; an `InvalidError` that names every wrong field."""
        wrong: list[FieldError] = []
        spelt = None
        try:
            spelt = normalise(self.channel, self.address)
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
        return SuppressionWish(
            channel=self.channel,
            address=spelt,
            reason=self.reason,
            source_notification_id=self.source_notification_id,
            notes=self.notes,
            expires_at=self.expires_at,
        )


class ListSuppressions(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which suppressions are wanted."""

    channel: SuppressibleChannel | None = None
    reason: Reason | None = None
    #: `true` shows those too that hold nothing back any more.
    released: Literal["true", "false"] = "false"


class ReleaseQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why it is released."""

    #: For the audit.
    reason: Words | None = None


class SuppressionView(Struct, frozen=True, kw_only=True):
    """A suppression."""

    id: str
    channel: SuppressibleChannel
    #: A hint such as `l…@e….test`; null where only the hash is known.
    address: str | None
    reason: Reason
    notes: str | None
    source_notification_id: str | None
    expires_at: Moment | None
    released_at: Moment | None
    released_by: str | None
    created_at: Moment

    @classmethod
    def of(cls, suppression: Suppression, key: DataKey | None) -> "SuppressionView":
        """The suppression as it is shown."""
        return cls(
            id=suppression.id,
            channel=suppression.channel,
            address=_hint(suppression, key),
            reason=suppression.reason,
            notes=suppression.notes,
            source_notification_id=suppression.source_notification_id,
            expires_at=suppression.expires_at,
            released_at=suppression.released_at,
            released_by=suppression.released_by,
            created_at=suppression.created_at,
        )


def _hint(suppression: Suppression, key: DataKey | None) -> str | None:
    if key is None or suppression.address_ciphertext is None:
        return None
    try:
        clear = key.unseal(suppression.address_ciphertext, sealing_purpose(suppression.channel))
    except DestroyedKeyError:
        return None
    return redact(clear.decode())
