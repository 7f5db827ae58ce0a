"""Erasure as others hear of it, and who has to forget along."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Final, Protocol

from msgspec import Meta, Struct

from tidings.contracts.moments import Moment
from tidings.kernel.db import TenantTx

#: How long the raw bodies of vendors' callbacks are kept, unless the person that they are about is erased before.
RAW_CALLBACKS_KEPT: Final = timedelta(days=30)


class RecipientErased(Struct, frozen=True, kw_only=True):
    """Nothing about a recipient can be read any more; whoever keeps a copy destroys it."""

    recipient_id: str
    #: The receipt.
    erasure_id: str
    erased_at: Moment


class UserDeleted(Struct, frozen=True, kw_only=True):
    """The identity service deleted a user; grows by addition, so unknown fields are no fault."""

    #: Their id there: a recipient's `identity.id` of the type `user`.
    user_id: Annotated[str, Meta(min_length=1, max_length=200)]


USER_DELETED_SUBJECT: Final = "iam.user.deleted.v1"

ERASURE_EVENTS: dict[str, type[Struct]] = {
    "recipient.erased.v1": RecipientErased,
    USER_DELETED_SUBJECT: UserDeleted,
}


class Forgetter(Protocol):
    """What another service offers: to forget recipients in the transaction that erases them."""

    async def forget(self, tx: TenantTx, recipient_ids: Sequence[str]) -> int:
        """Remove what it has learned about them; how many rows that were."""
        ...


class CallbackForgetter(Protocol):
    """What the router offers: no raw body of a callback about an erased recipient is kept."""

    async def forget(self, tx: TenantTx, notification_ids: Sequence[str]) -> int:
        """Order it for these notifications, in the transaction that erases; how many requests about them had come."""
        ...
