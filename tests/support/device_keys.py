"""An application that holds a key of its own, and signs each request with it."""

import base64
import json
import secrets
from typing import Any

import httpx2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from tests.support.operators import SignedIn


class DeviceApp:
    """Signs for one session."""

    def __init__(self, who: SignedIn) -> None:
        self.who = who
        self.key = ec.generate_private_key(ec.SECP256R1())

    @property
    def public_key(self) -> dict[str, Any]:
        """As a browser exports it."""
        numbers = self.key.public_key().public_numbers()
        x, y = (_text(one.to_bytes(32)) for one in (numbers.x, numbers.y))
        return {"kty": "EC", "crv": "P-256", "x": x, "y": y, "ext": True, "key_ops": ["verify"]}

    def proof(self, method: str, target: str, **claims: Any) -> str:
        """A proof of one request; `claims` are other than they should be."""
        said = {
            "htm": method,
            "htu": target,
            "iat": self.who.who.world.clock.now().timestamp(),
            "jti": secrets.token_urlsafe(16),
            "sid": self.who.session_id,
            **claims,
        }
        head = _text(json.dumps({"typ": "device-proof+jwt", "alg": "ES256"}).encode())
        body = _text(json.dumps(said).encode())
        r, s = decode_dss_signature(self.key.sign(f"{head}.{body}".encode(), ec.ECDSA(SHA256())))
        return f"{head}.{body}.{_text(r.to_bytes(32) + s.to_bytes(32))}"

    async def get(self, path: str, **headers: str) -> httpx2.Response:
        return await self.who.get(path, **{"Device-Proof": self.proof("GET", path), **headers})

    async def post(self, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        return await self.who.post(path, body, **{"Device-Proof": self.proof("POST", path), **headers})

    async def shake_hands(self) -> httpx2.Response:
        path = f"/bff/v1/devices/{self.who.device_id}/handshake"
        return await self.who.post(path, {"public_key": self.public_key})


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
