"""Values in metadata that notifications are found by: one spelling each, hashed under the tenant's pepper with their key."""

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tidings.kernel.keys.pepper import Pepper
from tidings.kernel.refusals import FieldError

#: Characters; an order number is short, and a longer text is no name for anything.
MOST_VALUE: Final = 200
_REMEDY: Final = (
    f"is searchable and must be a text of 1 to {MOST_VALUE} characters, a number, true, false or null"
)


def spelt(value: Any) -> str | None:
    """The one spelling of a value: ` a-77` is `A-77`, and 77 is `77`; None where nothing can be found by it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str | int | float):
        return None
    text = unicodedata.normalize("NFC", str(value)).strip().casefold()
    return text if 0 < len(text) <= MOST_VALUE else None


def searchable_in(
    metadata: Mapping[str, Any] | None, declared: Sequence[str], wrong: list[FieldError]
) -> tuple[tuple[str, str], ...]:
    """The values of the declared keys in their one spelling; what can't be found by is added to `wrong`."""
    if not metadata or not declared:
        return ()
    found: list[tuple[str, str]] = []
    for key in declared:
        value = metadata.get(key)
        if value is None:
            continue
        text = spelt(value)
        if text is None:
            wrong.append(FieldError(f"metadata.{key}", _REMEDY))
        else:
            found.append((key, text))
    return tuple(found)


def search_hash(pepper: Pepper, key: str, text: str) -> str:
    """What is kept of a value. With its key: the same number means another thing elsewhere."""
    return pepper.hash(f"metadata:{key}:{text}")
