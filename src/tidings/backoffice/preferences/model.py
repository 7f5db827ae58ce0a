"""Preferences as they are kept here; no I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Meta

from tidings.backoffice.ids import OperatorId, PreferencesId
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TenantId

#: After this the service is asked again.
FRESH: Final = timedelta(minutes=5)
MOST_BYTES: Final = 16_384

_Name = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_.]{0,63}\Z")]
_Text = Annotated[str, Meta(max_length=500)]
#: A choice: a text, a number, on or off, or a list of texts.
Choice: TypeAlias = _Text | int | float | bool | Annotated[list[_Text], Meta(max_length=100)] | None
#: Choices by name. The service may have others: what it says is passed on as it is.
Choices = Annotated[dict[_Name, Choice], Meta(max_length=200)]


@dataclass(frozen=True, slots=True, kw_only=True)
class MirroredPreferences:
    """Preferences of one operator, for all properties or for one, as the service had them."""

    id: PreferencesId
    tenant_id: TenantId
    operator_id: OperatorId
    property_id: str | None
    payload_ciphertext: bytes = field(repr=False)
    version: int
    fetched_at: datetime | None

    def is_fresh(self, now: datetime) -> bool:
        """Whether the service need not be asked."""
        return self.fetched_at is not None and now - self.fetched_at < FRESH


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPreferences:
    """The same, opened."""

    property_id: str | None
    version: int
    preferences: Mapping[str, Any] = field(repr=False)
    #: The service does not answer: they are as it had them last.
    is_stale: bool = False


def encoded(preferences: Mapping[str, Any]) -> str:
    """As they are sealed; a `BadValueError` where they are too large."""
    text = msgspec.json.encode(preferences, order="sorted")
    if len(text) > MOST_BYTES:
        raise BadValueError("preferences", f"must be {MOST_BYTES} bytes of JSON at most")
    return text.decode()
