"""Makes the sandbox of `tidings up` the platform's vendor, so that a first message goes somewhere and reaches nobody.

The account's settings are in a file of the secrets folder, written anew at every start because ports may change; the
account in the database only refers to it. An account that an operator made is left alone.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tidings.contracts.channel_configs import ConfigureAccount
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.operations.embedded import DataDir, DataDirError
from tidings.router.channel_configs.configure import AdapterConfigs
from tidings.sandbox import Sandbox

_FOLDER: Final = "sandbox"
_VENDORS: Final = ("smtp", "http")
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
    for vendor, settings in _settings(sandbox).items():
        folder.write_private(place / f"{vendor}.json", settings)


async def ensure_accounts(db: Database, accounts: AdapterConfigs, *, tenant_id: TenantId) -> None:
    """Make the platform's accounts, as far as the tenant has none to send through."""
    async with db.tenant(tenant_id) as tx:
        known = await accounts.accounts(tx, _VENDORS)
    missing = [
        ConfigureAccount(vendor=vendor, secret_ref=f"file://{_FOLDER}/{vendor}.json")
        for vendor in _VENDORS
        if vendor not in known
    ]
    if missing:
        async with db.platform() as tx:
            await accounts.configure_platform(tx, missing, actor=_ACTOR)


def _settings(sandbox: Sandbox) -> Mapping[str, Mapping[str, Any]]:
    return {
        "smtp": {"host": sandbox.host, "port": sandbox.smtp_port, "security": "none"},
        "http": {
            "url": f"{sandbox.url}/http/messages",
            "message_id_path": "id",
            "error_code_path": "error.code",
            "error_reason_path": "error.message",
            # It keeps a message once, however often it is told.
            "idempotent": True,
        },
    }
