"""Makes the sandbox of `tidings up` the platform's vendors, so that a first message goes somewhere and reaches nobody.

The accounts' settings are in files of the secrets folder, written anew at every start because ports may change; the
accounts in the database only refer to them. An account that an operator made is left alone.
"""

import base64
import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tidings.contracts.channel_configs import ConfigureAccount
from tidings.contracts.prices import PrefixPrice, PriceModel
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.operations.embedded import DataDir, DataDirError
from tidings.router.channel_configs.configure import AdapterConfigs
from tidings.sandbox import Sandbox
from tidings.sandbox.hooks import Hook

_FOLDER: Final = "sandbox"
#: Each vendor with what its messages cost: made up, and of the size that is usual.
_VENDORS: Final[Mapping[str, PriceModel]] = {
    "smtp": PriceModel(currency="USD", base_micros=100),
    "http": PriceModel(
        currency="USD",
        per_segment_micros=20_000,
        by_prefix={
            "+93": PrefixPrice(per_segment_micros=60_000),
            "+1": PrefixPrice(per_segment_micros=8_000),
        },
    ),
    # A second one for SMS, that nothing is sent through until a channel, a policy or a weight names it.
    "http_backup": PriceModel(currency="USD", per_segment_micros=30_000),
    "http_whatsapp": PriceModel(currency="USD", base_micros=5_000),
    "http_telegram": PriceModel(currency="USD"),
    "http_viber": PriceModel(currency="USD", base_micros=10_000),
    "http_voice": PriceModel(currency="USD", per_minute_micros=50_000),
}
_ACTOR = "tidings up"


def write_accounts(folder: DataDir, secrets_dir: Path, sandbox: Sandbox) -> None:
    """Write where the sandbox listens, for those who send to it."""
    place = secrets_dir / _FOLDER
    try:
        for made in (secrets_dir, place):
            made.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise DataDirError(
            f"{place} can't be made: {error.strerror}; choose another TIDINGS_SECRETS_DIR, "
            "or do without the sandbox: TIDINGS_SANDBOX=off"
        ) from None
    for vendor in _VENDORS:
        file = place / f"{vendor}.json"
        folder.write_private(file, _settings(sandbox, vendor, file))


async def ensure_accounts(db: Database, accounts: AdapterConfigs, *, tenant_id: TenantId) -> None:
    """Make the platform's accounts, as far as the tenant has none to send through."""
    async with db.tenant(tenant_id) as tx:
        known = await accounts.accounts(tx, list(_VENDORS))
    missing = [
        ConfigureAccount(vendor=vendor, secret_ref=f"file://{_FOLDER}/{vendor}.json", prices=prices)
        for vendor, prices in _VENDORS.items()
        if vendor not in known
    ]
    if missing:
        async with db.platform() as tx:
            await accounts.configure_platform(tx, missing, actor=_ACTOR)


async def connect_hooks(
    sandbox: Sandbox,
    db: Database,
    accounts: AdapterConfigs,
    *,
    tenant_id: TenantId,
    secrets_dir: Path,
    base_url: str,
) -> None:
    """Tell the sandbox where its vendors' receipts go: to the API at `base_url`, for the account of each."""
    async with db.tenant(tenant_id) as tx:
        known = await accounts.accounts(tx, list(_VENDORS))
    for vendor, account in known.items():
        secret = _callback_secret(secrets_dir / _FOLDER / f"{vendor}.json")
        if secret is not None:
            sandbox.postman.hooks.set(
                vendor, Hook(url=f"{base_url}/hooks/{vendor}/{account.id}", secret=secret)
            )


def _settings(sandbox: Sandbox, vendor: str, before: Path) -> Mapping[str, Any]:
    if vendor == "smtp":
        return {"host": sandbox.host, "port": sandbox.smtp_port, "security": "none"}
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
        # The one of the start before: what is under way may still be signed with it.
        "callback_secret": _callback_secret(before) or _new_secret(),
    }


def _callback_secret(file: Path) -> str | None:
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    secret = found.get("callback_secret") if isinstance(found, dict) else None
    return secret if isinstance(secret, str) and secret else None


def _new_secret() -> str:
    return f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}"
