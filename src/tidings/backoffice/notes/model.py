"""A note: what an operator writes beside an acknowledgement or a decision."""

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal

from msgspec import Meta

from tidings.backoffice.ids import NoteId

#: So many characters of a note are kept.
MOST_CHARACTERS: Final = 200
#: A note as requests bring it: what is longer than is kept is cut and not refused.
NoteText = Annotated[
    str,
    Meta(max_length=4_000, description=f"a note; its first {MOST_CHARACTERS} characters are kept, sealed"),
]
#: Beside what it was written.
NoteKind = Literal["alert_ack", "ai_decision"]

#: As long as the ledger that names it.
KEPT: Final[dict[NoteKind, timedelta]] = {
    "alert_ack": timedelta(days=365),
    "ai_decision": timedelta(days=7 * 366),
}
_SPACE: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNote:
    """A note that is to be kept."""

    kind: NoteKind
    #: The row beside which it is written.
    about_id: str
    property_id: str | None
    #: The operator.
    written_by: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note as it is kept."""

    id: NoteId
    kind: NoteKind
    about_id: str
    property_id: str | None
    written_by: str
    written_at: datetime
    #: None once redacted.
    text_ciphertext: bytes | None = field(repr=False)
    redacted_at: datetime | None
    redacted_by: str | None


def cut(text: str) -> str:
    """What is kept of a note: in one line, without control characters, the first 200 characters (code points)."""
    shown = _SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip()
    kept = "".join(one for one in shown if unicodedata.category(one) not in ("Cc", "Cs"))
    return kept[:MOST_CHARACTERS].rstrip()
