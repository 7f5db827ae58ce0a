"""The only Python here that runs SQL on policies."""

from collections.abc import Collection
from typing import Any

import msgspec

from tidings.contracts.enums import UseCase
from tidings.kernel.db import TenantsTx, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries
from tidings.router.policies.model import Policy, PolicyId, PolicyStep, PolicyVersion

QUERIES = Queries.beside(__file__)

_encode = msgspec.json.Encoder(order="deterministic").encode
_read_ladder = msgspec.json.Decoder(tuple[PolicyStep, ...]).decode
_read_policy = msgspec.json.Decoder(Policy).decode


async def find_in_force(tx: TenantTx) -> dict[UseCase, Policy]:
    """Those that new messages go by."""
    rows = await tx.fetch(QUERIES.find_in_force)
    return {policy.use_case: policy for policy in map(_from_row, rows)}


async def find_in_force_of_all(
    tx: TenantsTx, tenant_ids: Collection[TenantId]
) -> dict[TenantId, dict[UseCase, Policy]]:
    """The same of several tenants."""
    found: dict[TenantId, dict[UseCase, Policy]] = {id_: {} for id_ in tenant_ids}
    for row in await tx.fetch(QUERIES.find_in_force_of_all, tenant_ids=sorted(tenant_ids)):
        policy = _from_row(row)
        found[row["tenant_id"]][policy.use_case] = policy
    return found


async def list_policies(
    tx: TenantTx, *, after_id: str | None, use_case: UseCase | None, with_deleted: bool, limit: int
) -> list[Policy]:
    """Some of them, the newest first."""
    rows = await tx.fetch(
        QUERIES.list_policies, after_id=after_id, use_case=use_case, with_deleted=with_deleted, limit=limit
    )
    return [_from_row(row) for row in rows]


async def find_policy(tx: TenantTx, policy_id: PolicyId) -> Policy | None:
    """The policy, deleted or not."""
    row = await tx.fetch_one(QUERIES.find_policy, id=policy_id)
    return None if row is None else _from_row(row)


async def lock_policy(tx: TenantTx, policy_id: PolicyId) -> Policy | None:
    """The same, to be changed."""
    row = await tx.fetch_one(QUERIES.lock_policy, id=policy_id)
    return None if row is None else _from_row(row)


async def insert_policy(tx: TenantTx, policy: Policy, *, actor: str) -> bool:
    """Write a new one; False where the use case has one."""
    return bool(await tx.execute(QUERIES.insert_policy, policy, **_values(policy, actor)))


async def update_policy(tx: TenantTx, policy: Policy, *, actor: str) -> None:
    """Write a changed one."""
    await tx.execute(QUERIES.update_policy, policy, **_values(policy, actor))


async def insert_version(tx: TenantTx, policy: Policy, *, actor: str) -> None:
    """Keep it as it is now."""
    await tx.execute(
        QUERIES.insert_version,
        policy,
        policy_id=policy.id,
        snapshot=_encode(policy).decode(),
        actor=actor,
        now=policy.updated_at,
    )


async def list_versions(
    tx: TenantTx, policy_id: PolicyId, *, before: int | None, limit: int
) -> list[PolicyVersion]:
    """What it was, the newest first."""
    rows = await tx.fetch(QUERIES.list_versions, policy_id=policy_id, before=before, limit=limit)
    return [_version(row) for row in rows]


async def find_version(tx: TenantTx, policy_id: PolicyId, version: int) -> PolicyVersion | None:
    """As it was then."""
    row = await tx.fetch_one(QUERIES.find_version, policy_id=policy_id, version=version)
    return None if row is None else _version(row)


def _values(policy: Policy, actor: str) -> dict[str, Any]:
    return {
        "ladder_order": policy.order,
        "ladder": _encode(policy.ladder).decode(),
        "stop_keywords": list(policy.stop_keywords),
        "actor": actor,
    }


_from_row = RowMapper(
    Policy,
    [
        QUERIES.find_in_force,
        QUERIES.find_in_force_of_all,
        QUERIES.list_policies,
        QUERIES.find_policy,
        QUERIES.lock_policy,
    ],
    columns={"order": "ladder_order", "stop_keywords": "stop_keywords_override"},
    read={"ladder": _read_ladder},
)


_version = RowMapper(
    PolicyVersion,
    [QUERIES.list_versions, QUERIES.find_version],
    columns={"policy": "snapshot"},
    read={"policy": _read_policy},
)
