"""Where the keys stand: which master keys are in use, whether we hold them, which rotations are unfinished."""

from dataclasses import dataclass

from tidings.kernel.db import Database
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.keyring import platform_key_aad, tenant_key_aad
from tidings.kernel.keys.kms import Kms, UnknownMasterKeyError
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyStatus:
    """Where the keys stand."""

    #: The master key that wraps now.
    master_key_id: str
    #: Tenant and platform keys by master key: `{"mk1-…": (12, 2)}`.
    by_master: dict[str, tuple[int, int]]
    #: Tenants whose rotation is not finished: `{"tnt_…": (1, 2)}`, oldest and newest version in use.
    unfinished: dict[str, tuple[int, int]]
    #: Master keys that the database needs and the KMS does not hold.
    missing: list[str]


async def key_status(db: Database, kms: Kms) -> KeyStatus:
    """Which master keys are in use, and which rotations are unfinished."""
    async with db.platform() as tx:
        counts = await tx.fetch(QUERIES.count_keys_by_master)
        unfinished = await tx.fetch(QUERIES.list_unfinished_tenants)
    return KeyStatus(
        master_key_id=await kms.current_key_id(),
        by_master={row["master_key_id"]: (row["tenant_keys"], row["platform_keys"]) for row in counts},
        unfinished={row["tenant_id"]: (row["oldest"], row["newest"]) for row in unfinished},
        missing=await _missing_master_keys(db, kms),
    )


async def check_master_keys(db: Database, kms: Kms) -> None:
    """Refuse to go on without every master key that the database needs: a new one would only hide the loss."""
    if missing := await _missing_master_keys(db, kms):
        raise UnknownMasterKeyError(
            f"the database needs master key {', '.join(missing)}, which {kms!r} does not hold; "
            "restore the key file from its backup, or name the right one"
        )


async def _missing_master_keys(db: Database, kms: Kms) -> list[str]:
    async with db.platform() as tx:
        samples = await tx.fetch(QUERIES.sample_key_per_master)
    missing = []
    for row in samples:
        if row["tenant_id"] is None:
            aad = platform_key_aad(row["purpose"], row["version"])
        else:
            aad = tenant_key_aad(row["tenant_id"], row["purpose"], row["version"])
        try:
            await kms.unwrap(row["wrapped_key"], aad)
        except (UnknownMasterKeyError, UnreadableError):
            missing.append(row["master_key_id"])
    return missing
