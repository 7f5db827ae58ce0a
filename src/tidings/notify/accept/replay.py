"""What is kept of an accepted order under its idempotency key, and the same order's outcome read back from it.

It is kept in the form of the API's answer: that is how every release has stored it.
"""

from typing import Final

import msgspec

from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.idempotency import Replay, StoredAnswer, hash_request, in_environment
from tidings.notify.accept.order import AcceptedOrder, DuplicateOrder, OrderedBy
from tidings.notify.accept.wire import AcceptedView, accepted_view

_SINGLE: Final = "POST:/api/v1/notifications"
_SET: Final = "POST:/api/v1/notifications/bulk"
_ACCEPTED: Final = 202

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(AcceptedView, strict=False).decode


def scope_of_order(by: OrderedBy) -> str:
    """What the key of a single order is unique within."""
    return in_environment(_SINGLE, is_test=by.is_test)


def scope_of_set(by: OrderedBy) -> str:
    """What the key of a whole set is unique within."""
    return in_environment(_SET, is_test=by.is_test)


def hash_of_order(meant: bytes) -> str:
    """What tells a request with a single order from another one with the same key."""
    return hash_request(_SINGLE.encode(), b"", meant)


def hash_of_set(meant: list[bytes]) -> str:
    """The same for a request with many."""
    return hash_request(_SET.encode(), b"", *meant)


def answer_of(done: AcceptedOrder) -> StoredAnswer:
    """What is kept."""
    return StoredAnswer(_ACCEPTED, _encode(accepted_view(done)).decode())


def outcome_of(kept: Replay) -> AcceptedOrder:
    """What became of the order the first time."""
    view = _decode(kept.response)
    kind = DuplicateOrder if view.duplicate is True else AcceptedOrder
    return kind(
        id=NotificationId(view.id),
        status=view.status,
        recipient_id=RecipientId(view.recipient_id),
        replayed=True,
    )
