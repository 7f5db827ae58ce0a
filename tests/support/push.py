"""Keys, devices and browsers for the tests of push."""

import base64
import functools
import json
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

#: The browser of RFC 8291, appendix A.
BROWSER_PRIVATE = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
BROWSER_PUBLIC = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
BROWSER_SECRET = "BTBZMqHH6r4Tts7J_aSIgg"


def subscription(endpoint: str = "https://push.example/wpush/v2/gAAAAlailasbrowser", **keys: str) -> str:
    """As a browser gives it."""
    given = {"p256dh": BROWSER_PUBLIC, "auth": BROWSER_SECRET, **keys}
    return json.dumps({"endpoint": endpoint, "expirationTime": None, "keys": given})


@functools.cache
def rsa_pem() -> str:
    """A service account's key."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@functools.cache
def ec_pem() -> str:
    """A key of P-256, as Apple gives one."""
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@functools.cache
def vapid_key() -> tuple[str, str]:
    """A private and a public key, as tools for VAPID write them."""
    key = ec.generate_private_key(ec.SECP256R1())
    private = key.private_numbers().private_value.to_bytes(32, "big")
    public = key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return encode64(private), encode64(public)


def encode64(data: bytes) -> str:
    """Base64 for addresses, without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def service_account(**more: Any) -> dict[str, Any]:
    """The file that Google gives, with a key of our own."""
    return {
        "type": "service_account",
        "project_id": "green-shop",
        "private_key_id": "9b1c0de5",
        "private_key": rsa_pem(),
        "client_email": "firebase-adminsdk@green-shop.iam.gserviceaccount.com",
        "client_id": "112233445566778899001",
        "auth_uri": "https://accounts.google.com/o/oauth2/auth",
        "token_uri": "https://oauth2.googleapis.com/token",
        "auth_provider_x509_cert_url": "https://www.googleapis.com/oauth2/v1/certs",
        "client_x509_cert_url": "https://www.googleapis.com/robot/v1/metadata/x509/firebase-adminsdk",
        "universe_domain": "googleapis.com",
        **more,
    }
