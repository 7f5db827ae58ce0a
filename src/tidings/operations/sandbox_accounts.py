"""The platform's accounts with the sandbox's vendors: what each costs, and how each is set up."""

import base64
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tidings.contracts.prices import PrefixPrice, PriceModel
from tidings.sandbox import Sandbox

#: The settings of an account, with the secret that its vendor's callbacks are proven with, or that we sign with.
Settings: TypeAlias = Callable[[Sandbox, str, str], Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxAccount:
    """One account with one vendor of the sandbox."""

    #: Made up, and of the size that is usual.
    prices: PriceModel
    settings: Settings
    #: Which of the settings proves callbacks; None where the vendor makes none.
    proof: str | None
    #: A new secret, of the form that the vendor's has; every start needs one where no callbacks are proven with it.
    new_secret: Callable[[], str] = lambda: secrets.token_hex(16)


def _mail(sandbox: Sandbox, _: str, __: str) -> Mapping[str, Any]:
    return {"host": sandbox.host, "port": sandbox.smtp_port, "security": "none"}


def _any_vendor(sandbox: Sandbox, vendor: str, secret: str) -> Mapping[str, Any]:
    messages = f"{sandbox.url}/vendors/{vendor}/messages"
    return {
        "url": messages,
        "cancel_url": f"{messages}/{{{{provider_message_id}}}}",
        "message_id_path": "id",
        "error_code_path": "error.code",
        "error_reason_path": "error.message",
        # It keeps a message once, however often it is told.
        "idempotent": True,
        "receipts": True,
        "callback_secret": secret,
    }


def _whatsapp(sandbox: Sandbox, vendor: str, secret: str) -> Mapping[str, Any]:
    return {
        "api_url": f"{sandbox.url}/{vendor}",
        "phone_number_id": "100000000000001",
        "access_token": "sandbox-access-token",
        "app_secret": secret,
        "verify_token": secret,
    }


def _telegram(sandbox: Sandbox, vendor: str, secret: str) -> Mapping[str, Any]:
    return {
        "api_url": f"{sandbox.url}/{vendor}",
        "token": f"1000001:{'sandbox' * 5}",
        "webhook_secret": secret,
    }


def _viber(sandbox: Sandbox, vendor: str, secret: str) -> Mapping[str, Any]:
    return {"api_url": f"{sandbox.url}/{vendor}", "auth_token": secret, "bot_id": "pa:sandbox"}


def _voice(sandbox: Sandbox, vendor: str, secret: str) -> Mapping[str, Any]:
    return {"api_url": f"{sandbox.url}/{vendor}", "api_token": "sandbox-api-token", "callback_secret": secret}


def _fcm(sandbox: Sandbox, vendor: str, secret: str) -> Mapping[str, Any]:
    return {
        "api_url": f"{sandbox.url}/{vendor}",
        "token_uri": f"{sandbox.url}/{vendor}/token",
        "project_id": "tidings-sandbox",
        "client_email": "sender@tidings-sandbox.iam.gserviceaccount.com",
        "private_key": secret,
    }


def _apns(sandbox: Sandbox, _: str, secret: str) -> Mapping[str, Any]:
    return {
        "api_url": sandbox.apns_url,
        "key_id": "SANDBOXKEY",
        "team_id": "SANDBOXAPP",
        "topic": "example.demo.app",
        "private_key": secret,
    }


def _rsa_key() -> str:
    return _pem(rsa.generate_private_key(public_exponent=65537, key_size=2048))


def _ec_key() -> str:
    return _pem(ec.generate_private_key(ec.SECP256R1()))


def _pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def _standard_secret() -> str:
    return f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}"


#: By vendor.
SANDBOX_ACCOUNTS: Final[Mapping[str, SandboxAccount]] = {
    "smtp": SandboxAccount(prices=PriceModel(currency="USD", base_micros=100), settings=_mail, proof=None),
    "http": SandboxAccount(
        prices=PriceModel(
            currency="USD",
            per_segment_micros=20_000,
            by_prefix={
                "+93": PrefixPrice(per_segment_micros=60_000),
                "+1": PrefixPrice(per_segment_micros=8_000),
            },
        ),
        settings=_any_vendor,
        proof="callback_secret",
        new_secret=_standard_secret,
    ),
    # A second one for SMS, that nothing is sent through until a channel, a policy or a weight names it.
    "http_backup": SandboxAccount(
        prices=PriceModel(currency="USD", per_segment_micros=30_000),
        settings=_any_vendor,
        proof="callback_secret",
        new_secret=_standard_secret,
    ),
    "whatsapp_cloud": SandboxAccount(
        prices=PriceModel(currency="USD", base_micros=5_000), settings=_whatsapp, proof="app_secret"
    ),
    "telegram_bot": SandboxAccount(
        prices=PriceModel(currency="USD"), settings=_telegram, proof="webhook_secret"
    ),
    "viber": SandboxAccount(
        prices=PriceModel(currency="USD", base_micros=10_000), settings=_viber, proof="auth_token"
    ),
    "voice_otp_gateway": SandboxAccount(
        prices=PriceModel(currency="USD", per_minute_micros=50_000),
        settings=_voice,
        proof="callback_secret",
        new_secret=_standard_secret,
    ),
    "fcm": SandboxAccount(prices=PriceModel(currency="USD"), settings=_fcm, proof=None, new_secret=_rsa_key),
    # A second one for push, as `http_backup` is for SMS.
    "apns": SandboxAccount(prices=PriceModel(currency="USD"), settings=_apns, proof=None, new_secret=_ec_key),
}
