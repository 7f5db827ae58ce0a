"""What a browser answers with: the JSON of a PublicKeyCredential, as `toJSON()` makes it. No I/O."""

import base64
import binascii
import hashlib
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

import msgspec

#: Longer ones are none: a registration takes less than two thousand characters.
MOST_CHARACTERS: Final = 8_000


class _Response(msgspec.Struct, frozen=True, rename={"client_data": "clientDataJSON"}):
    client_data: str


class _Said(msgspec.Struct, frozen=True):
    id: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{16,1400}\Z")]
    response: _Response


class _ClientData(msgspec.Struct, frozen=True):
    challenge: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserAnswer:
    """An answer that was read, and is not verified yet."""

    #: As the library reads it.
    credential: dict[str, Any] = field(repr=False)
    credential_id: str = field(repr=False)
    #: What was signed; whether we asked for it is the store's to say.
    challenge: bytes = field(repr=False)

    @property
    def challenge_hash(self) -> str:
        """How the store knows what was signed."""
        return hash_of(self.challenge)


def is_answer(text: str) -> bool:
    """Whether a text in the place of a code is a passkey's answer: JSON, which no code is."""
    return text.startswith("{")


def read_answer(text: str) -> BrowserAnswer | None:
    """The answer in a text; None where it has not the form of one."""
    if len(text) > MOST_CHARACTERS:
        return None
    try:
        said = msgspec.json.decode(text, type=_Said)
        client = msgspec.json.decode(_decoded(said.response.client_data), type=_ClientData)
        challenge = _decoded(client.challenge)
        credential = msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError, binascii.Error, RecursionError):
        return None
    return BrowserAnswer(credential=credential, credential_id=said.id, challenge=challenge)


def hash_of(challenge: bytes) -> str:
    """What is kept of a challenge."""
    return hashlib.sha256(challenge).hexdigest()


def encoded(value: bytes) -> str:
    """Bytes as WebAuthn writes them: base64url without padding."""
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
