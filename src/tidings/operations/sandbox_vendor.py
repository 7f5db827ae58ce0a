"""Makes the sandbox of `tidings up` the platform's vendors, so that a first message goes somewhere and reaches no person.

The accounts' settings are in files of the secrets folder, written anew at every start because ports may change; the
accounts in the database only refer to them. An account that an operator made is left alone.
"""

import json
from pathlib import Path
from typing import Final

from tidings.contracts.channel_configs import ConfigureAccount
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.operations.embedded import DataDir, DataDirError
from tidings.operations.sandbox_accounts import SANDBOX_ACCOUNTS, SandboxAccount
from tidings.router.channel_configs.configure import AdapterConfigs
from tidings.sandbox import Sandbox
from tidings.sandbox.hooks import SandboxHook

_FOLDER: Final = "sandbox"
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
    for vendor, account in SANDBOX_ACCOUNTS.items():
        file = place / f"{vendor}.json"
        # The secret of the start before: what is under way may still be proven with it.
        secret = _secret(file, account) or account.new_secret()
        folder.write_private(file, account.settings(sandbox, vendor, secret))


async def ensure_accounts(db: Database, accounts: AdapterConfigs, *, tenant_id: TenantId) -> None:
    """Make the platform's accounts, as far as the tenant has none to send through."""
    async with db.tenant(tenant_id) as tx:
        known = await accounts.accounts(tx, list(SANDBOX_ACCOUNTS))
    missing = [
        ConfigureAccount(vendor=vendor, secret_ref=f"file://{_FOLDER}/{vendor}.json", prices=account.prices)
        for vendor, account in SANDBOX_ACCOUNTS.items()
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
        known = await accounts.accounts(tx, list(SANDBOX_ACCOUNTS))
    for vendor, account in known.items():
        secret = _secret(secrets_dir / _FOLDER / f"{vendor}.json", SANDBOX_ACCOUNTS[vendor])
        if secret is not None:
            sandbox.postman.hooks.set(
                vendor, SandboxHook(url=f"{base_url}/hooks/{vendor}/{account.id}", secret=secret)
            )


def _secret(file: Path, account: SandboxAccount) -> str | None:
    """What an account's callbacks are proven with, as its file has it."""
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    secret = found.get(account.proof) if isinstance(found, dict) and account.proof else None
    return secret if isinstance(secret, str) and secret else None
