"""`locks`: doors, and the keys to them."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from tidings.backoffice.upstreams.contract.texts import Count, ShortText, UpstreamId

LockAction = Literal["issue", "revoke", "rebind", "extend"]
Credential = Literal["card", "mobile", "pin"]


class LockActionRequest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is to be done with keys of a reservation. It goes with an Idempotency-Key, and is asked for once."""

    action: LockAction
    reservation_id: UpstreamId
    #: `operator_id` and `attestation_id`: who wants it, and by what proof.
    operator_id: UpstreamId
    attestation_id: UpstreamId
    credential: Credential | None = None
    #: For `rebind`: the room that the keys open from now on.
    room: ShortText | None = None
    #: For `issue` and `extend`.
    valid_until: datetime | None = None


class LockActionResult(Struct, frozen=True, kw_only=True):
    """What came of it. A failure is an answer, too: status 200, with its code."""

    request_id: UpstreamId
    outcome: Literal["success", "failure"]
    #: Who makes the lock.
    vendor: UpstreamId
    #: `lock_offline`, `reservation_not_found`, `no_key`, …
    error_code: Annotated[str, Meta(max_length=64, pattern=r"^[a-z][a-z0-9_]*\Z")] | None = None
    key_id: UpstreamId | None = None
    valid_until: datetime | None = None


class DoorKey(Struct, frozen=True, kw_only=True):
    """A key that opens something."""

    id: UpstreamId
    reservation_id: UpstreamId
    room: ShortText
    credential: Credential
    status: Literal["active", "revoked", "expired"]
    valid_until: datetime


class DoorKeys(Struct, frozen=True, kw_only=True):
    """Those of a reservation, the newest first."""

    keys: Annotated[list[DoorKey], Meta(max_length=200)]


class LockSummary(Struct, frozen=True, kw_only=True):
    """How the locks of a property are."""

    total: Count
    offline: Count
    low_battery: Count
    keys_active: Count
    #: The first of the rooms whose lock is offline or nearly empty.
    rooms: Annotated[list[ShortText], Meta(max_length=50)] = []
