"""What a browser is asked for: the JSON that `parseCreationOptionsFromJSON` and `parseRequestOptionsFromJSON` take."""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from tidings.backoffice.ids import OperatorId
from tidings.backoffice.passkeys.answers import encoded
from tidings.backoffice.passkeys.model import Passkey

_MILLISECONDS: Final = 120_000
_NAME: Final = "Tidings"
#: ES256, EdDSA, RS256, as COSE counts them.
_ALGORITHMS: Final = (-7, -8, -257)


class RelyingParty:
    """Who passkeys are made for: the host of the console's address, and no other."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        host = parts.hostname or "localhost"
        #: Browsers know no passkeys of an IP address; whoever tries Tidings out opens it as localhost.
        self.id = "localhost" if host in ("127.0.0.1", "::1", "0.0.0.0") else host  # noqa: S104
        port = f":{parts.port}" if parts.port else ""
        self.origin = f"{parts.scheme}://{self.id}{port}"


def creation_options(
    party: RelyingParty,
    challenge: bytes,
    operator_id: OperatorId,
    *,
    name: str,
    mail: str,
    known: Sequence[Passkey],
) -> dict[str, Any]:
    """To make a passkey; one that the authenticator has already is not made twice."""
    return {
        "rp": {"id": party.id, "name": _NAME},
        "user": {"id": encoded(operator_id.encode()), "name": mail, "displayName": name},
        "challenge": encoded(challenge),
        "pubKeyCredParams": [{"type": "public-key", "alg": algorithm} for algorithm in _ALGORITHMS],
        "timeout": _MILLISECONDS,
        "excludeCredentials": _named(known),
        "authenticatorSelection": {"residentKey": "preferred", "userVerification": "preferred"},
        "attestation": "none",
    }


def request_options(
    party: RelyingParty, challenge: bytes, known: Sequence[Passkey], *, verified: bool
) -> dict[str, Any]:
    """To show one; `verified`: the authenticator has to know its owner, by a finger or a PIN. Without `known` it says itself which it has."""
    return {
        "rpId": party.id,
        "challenge": encoded(challenge),
        "timeout": _MILLISECONDS,
        "allowCredentials": _named(known),
        "userVerification": "required" if verified else "preferred",
    }


def _named(known: Sequence[Passkey]) -> list[dict[str, str]]:
    return [{"type": "public-key", "id": passkey.credential_id} for passkey in known]
