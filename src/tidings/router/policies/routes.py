"""Operations on policies."""

import re
from typing import Annotated

from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.injection import Parsed
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.resources import Resource
from tidings.kernel.ids import TenantId
from tidings.router.policies import store
from tidings.router.policies.change import PolicyChange, PolicyChanger
from tidings.router.policies.errors import UnknownPolicyError, UnknownPolicyVersionError
from tidings.router.policies.model import Policy, PolicyId
from tidings.router.policies.simulate import PolicySimulator
from tidings.router.policies.simulation_wire import PolicyRehearsal, SimulatePolicy
from tidings.router.policies.wire import (
    CreatePolicy,
    ListPolicies,
    PolicyVersionView,
    PolicyView,
    PutPolicy,
    RollBackPolicy,
)

policies = Resource("policies", at="/router/policies", tag="policies", scope="router")

_ONE = "/{policy_id}"
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


def _number_in_path(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise BadValueError("version", "must be the number of a version, such as 3")
    return int(text)


@policies.get(test_keys=True)
async def list_policies(
    tx: TenantTx, query: ListPolicies, paging: Paging, changer: PolicyChanger
) -> Page[PolicyView]:
    """List policies, the newest first."""
    rows = await store.list_policies(
        tx,
        after_id=paging.after_id,
        use_case=query.use_case,
        with_deleted=query.deleted == "true",
        limit=paging.fetch,
    )
    judged = [await changer.judged(tx, policy) for policy in rows]
    return paging.page(judged, PolicyView.of, id_of=lambda changed: changed.policy.id)


@policies.post(
    status=201,
    idempotent=True,
    problems=["policy_exists"],
    example={
        "use_case": "otp",
        "ladder": [{"channel": "sms", "deadline_seconds": 30}, {"channel": "email", "deadline_seconds": 60}],
    },
)
async def create_policy(
    tx: TenantTx, body: CreatePolicy, caller: Caller, changer: PolicyChanger
) -> Answer[PolicyView]:
    """Make a policy: by which ladder messages of a use case go out.

    One policy is in force for each use case. Messages that are handed over from now on go by it; those under way keep
    the ladder that they began with. `warnings` names what is allowed and may not be meant.
    """
    made = await changer.create(tx, body.use_case, body.terms(), actor=caller.actor)
    return Answer(
        PolicyView.of(made), version=made.policy.version, location=f"/api/v1/router/policies/{made.policy.id}"
    )


@policies.post("/simulate", test_keys=True, writes=False)
async def simulate_policy(
    tenant_id: TenantId, body: SimulatePolicy, caller: Caller, simulator: PolicySimulator
) -> PolicyRehearsal:
    """Say what would happen to a message now, step by step, at what cost.

    By the policy in force for the message's use case, or by a draft. The same gates, words, prices and rules as in
    earnest; nothing is written and nothing is sent.
    """
    simulation = await simulator.simulate(tenant_id, body.message(), body.draft(), role=caller.role)
    return PolicyRehearsal.of(simulation)


@policies.get(_ONE, test_keys=True, problems=["policy_not_found"])
async def show_policy(tx: TenantTx, policy_id: PolicyId, changer: PolicyChanger) -> Answer[PolicyView]:
    """Show a policy, also a deleted one."""
    return _shown(await changer.judged(tx, await _known(tx, policy_id)))


@policies.put(_ONE, problems=["policy_not_found", "policy_deleted"])
async def put_policy(
    tx: TenantTx,
    policy_id: PolicyId,
    body: PutPolicy,
    if_match: IfMatch,
    caller: Caller,
    changer: PolicyChanger,
) -> Answer[PolicyView]:
    """Change a policy: it says from now on what the body says, whole.

    Each change is a version. A body that says the same as before changes nothing.
    """

    def expect(known: Policy) -> None:
        if_match.expect(known.version)
        if body.use_case not in (None, known.use_case):
            raise BadValueError(
                "use_case", f"is {known.use_case} and can't be changed; make a policy for the other use case"
            )

    return _shown(await changer.change(tx, policy_id, body.terms(), expect=expect, actor=caller.actor))


@policies.delete(_ONE, if_match="optional", problems=["policy_not_found", "policy_deleted"])
async def delete_policy(
    tx: TenantTx, policy_id: PolicyId, if_match: IfMatch, caller: Caller, changer: PolicyChanger
) -> Answer[PolicyView]:
    """Delete a policy: new messages of its use case go out as without one.

    Messages under way finish by the ladder that they began with. Until `grace_period_ends_at` it can be restored; a
    new policy for the use case can be made at any time. `If-Match` may be left out.
    """
    gone = await changer.delete(
        tx, policy_id, expect=lambda known: if_match.expect(known.version), actor=caller.actor
    )
    return _shown(PolicyChange(policy=gone, warnings=[]))


@policies.post(
    f"{_ONE}/restore", problems=["policy_not_found", "policy_in_force", "policy_grace_over", "policy_exists"]
)
async def restore_policy(
    tx: TenantTx, policy_id: PolicyId, caller: Caller, changer: PolicyChanger
) -> Answer[PolicyView]:
    """Put a deleted policy in force again, as it was."""
    return _shown(await changer.restore(tx, policy_id, actor=caller.actor))


@policies.post(
    f"{_ONE}/rollback",
    if_match="optional",
    problems=["policy_not_found", "policy_version_not_found", "policy_deleted"],
)
async def roll_back_policy(
    tx: TenantTx,
    policy_id: PolicyId,
    body: RollBackPolicy,
    if_match: IfMatch,
    caller: Caller,
    changer: PolicyChanger,
) -> Answer[PolicyView]:
    """Let a policy say again what an earlier version said.

    That is a new version too. `If-Match` may be left out.
    """
    done = await changer.roll_back(
        tx, policy_id, body.version, expect=lambda known: if_match.expect(known.version), actor=caller.actor
    )
    return _shown(done)


@policies.get(f"{_ONE}/versions", test_keys=True, listing="policy_versions", problems=["policy_not_found"])
async def list_policy_versions(tx: TenantTx, policy_id: PolicyId, paging: Paging) -> Page[PolicyVersionView]:
    """List the versions of a policy, the newest first."""
    before = paging.after_id
    rows = await store.list_versions(
        tx, policy_id, before=int(before.partition(":")[0]) if before else None, limit=paging.fetch
    )
    if not rows:
        await _known(tx, policy_id)
    # Versions have no ids; this one ends like an id, as every cursor does.
    return paging.page(rows, PolicyVersionView.of, id_of=lambda kept: f"{kept.version}:{policy_id}")


@policies.get(
    f"{_ONE}/versions/{{version}}", verb="show-version", test_keys=True, problems=["policy_version_not_found"]
)
async def show_policy_version(
    tx: TenantTx, policy_id: PolicyId, version: Annotated[int, Parsed(_number_in_path)]
) -> PolicyVersionView:
    """Show a policy as it was in a version."""
    kept = await store.find_version(tx, policy_id, version)
    if kept is None:
        raise UnknownPolicyVersionError(f"there is no version {version} of a policy {policy_id}")
    return PolicyVersionView.of(kept)


async def _known(tx: TenantTx, policy_id: PolicyId) -> Policy:
    policy = await store.find_policy(tx, policy_id)
    if policy is None:
        raise UnknownPolicyError(f"there is no policy with the id {policy_id}")
    return policy


def _shown(changed: PolicyChange) -> Answer[PolicyView]:
    return Answer(PolicyView.of(changed), version=changed.policy.version)
