"""An authenticator in software: it makes passkeys and signs with them, as a telephone does (WebAuthn, packed by hand)."""

import base64
import hashlib
import json
import os
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

_PRESENT, _VERIFIED, _ATTESTED = 0x01, 0x04, 0x40


def encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


@dataclass
class Authenticator:
    """Holds one passkey; `origin` is where its browser is, `count` None where it does not count."""

    origin: str = "http://localhost"
    verifies: bool = True
    count: int | None = 0
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    credential_id: bytes = field(default_factory=lambda: os.urandom(32))

    @property
    def public_key(self) -> bytes:
        """As COSE writes it."""
        numbers = self.key.public_key().public_numbers()
        return cbor2.dumps(
            {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        )

    def make(self, asked: dict[str, Any]) -> str:
        """Answer to a challenge to register."""
        client = self._client("webauthn.create", asked["challenge"])
        length = len(self.credential_id).to_bytes(2, "big")
        said = (
            self._data(asked["rp"]["id"], _ATTESTED)
            + bytes(16)
            + length
            + self.credential_id
            + self.public_key
        )
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": said})
        return self._credential(
            {"clientDataJSON": encoded(client), "attestationObject": encoded(attestation)}
        )

    def show(self, asked: dict[str, Any]) -> str:
        """Answer to a challenge to prove it."""
        if self.count is not None:
            self.count += 1
        client, said = self._client("webauthn.get", asked["challenge"]), self._data(asked["rpId"])
        signature = self.key.sign(said + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return self._credential(
            {
                "clientDataJSON": encoded(client),
                "authenticatorData": encoded(said),
                "signature": encoded(signature),
            }
        )

    def _client(self, kind: str, challenge: str) -> bytes:
        said = {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps(said).encode()

    def _data(self, party: str, flags: int = 0) -> bytes:
        flags |= _PRESENT | (_VERIFIED if self.verifies else 0)
        return hashlib.sha256(party.encode()).digest() + bytes([flags]) + (self.count or 0).to_bytes(4, "big")

    def _credential(self, response: dict[str, str]) -> str:
        id_ = encoded(self.credential_id)
        return json.dumps(
            {
                "id": id_,
                "rawId": id_,
                "type": "public-key",
                "authenticatorAttachment": "platform",
                "clientExtensionResults": {},
                "response": response,
            }
        )
