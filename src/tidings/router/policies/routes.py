"""What HTTP calls about policies."""

import re
from contextlib import AbstractAsyncContextManager
from typing import Any

from litestar import Request, Response, Router, delete, get, post, put

from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.bodies import read_body, read_query
from tidings.kernel.http.callers import caller_of, tenant_of
from tidings.kernel.http.etags import etag, expect_version
from tidings.kernel.http.once import Done, answer_once
from tidings.kernel.http.operations import deps_of, given, operation, path_id
from tidings.kernel.http.paging import Page, PageQuery, page_of, read_cursor
from tidings.router.policies import store
from tidings.router.policies.change import Changed, Expect, PolicyChanger
from tidings.router.policies.deps import Deps
from tidings.router.policies.errors import UnknownPolicyError, UnknownPolicyVersionError
from tidings.router.policies.model import POLICY, Policy, PolicyId
from tidings.router.policies.rehearsal_wire import PolicyRehearsal, SimulatePolicy
from tidings.router.policies.wire import (
    CreatePolicy,
    ListPolicies,
    PolicyVersionView,
    PolicyView,
    PutPolicy,
    RollBackPolicy,
)

_TAG = "policies"
_HOME = "/api/v1/router/policies"
_LISTING = "policies"
_VERSIONS = "policy_versions"
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")

AnyRequest = Request[Any, Any, Any]


@get(
    "/",
    **operation(
        summary="List policies, the newest first.",
        tag=_TAG,
        scope="router:read",
        test_keys=True,
        query=ListPolicies,
        answer=Page[PolicyView],
    ),
)
async def list_policies(request: AnyRequest) -> Page[PolicyView]:
    """List policies."""
    query = read_query(request, ListPolicies)
    after = read_cursor(query.cursor, listing=_LISTING)
    changer = _changer(request)
    async with _tenant(request) as tx:
        found = await store.list_policies(
            tx,
            after_id=after.id if after else None,
            use_case=query.use_case,
            with_deleted=query.deleted == "true",
            limit=query.limit + 1,
        )
        judged = [await changer.judged(tx, policy) for policy in found]
    return page_of(
        judged,
        limit=query.limit,
        listing=_LISTING,
        id_of=lambda one: one.policy.id,
        render=PolicyView.of,
    )


@post(
    "/",
    **operation(
        summary="Make a policy: by which ladder messages of a use case go out.",
        tag=_TAG,
        scope="router:write",
        body=CreatePolicy,
        answer=PolicyView,
        status=201,
        problems=["policy_exists"],
        headers=["Idempotency-Key"],
        description=(
            "One policy is in force for each use case. Messages that are handed over from now on go by it; those "
            "under way keep the ladder that they began with. `warnings` names what is allowed and may not be meant."
        ),
        example={
            "use_case": "otp",
            "ladder": [
                {"channel": "sms", "deadline_seconds": 30},
                {"channel": "email", "deadline_seconds": 60},
            ],
        },
    ),
)
async def create_policy(request: AnyRequest) -> Response[bytes]:
    """Make a policy."""
    wanted = await read_body(request, CreatePolicy)
    deps = deps_of(request, Deps)
    async with _tenant(request) as tx:

        async def work() -> Done:
            made = await _changer(request).create(
                tx, wanted.use_case, wanted.terms(), actor=caller_of(request).actor
            )
            policy = made.policy
            headers = {"ETag": etag(policy.version), "Location": f"{_HOME}/{policy.id}"}
            return Done(status=201, body=PolicyView.of(made), headers=headers)

        return await answer_once(request, tx, deps.idempotency, work)


@post(
    "/simulate",
    **operation(
        summary="Say what would happen to a message now, step by step, at what cost.",
        tag=_TAG,
        scope="router:read",
        test_keys=True,
        writes=False,
        body=SimulatePolicy,
        answer=PolicyRehearsal,
        description=(
            "By the policy in force for the message's use case, or by a draft. The same gates, words, prices and "
            "rules as in earnest; nothing is written and nothing is sent."
        ),
    ),
)
async def simulate_policy(request: AnyRequest) -> PolicyRehearsal:
    """Say what would happen."""
    wanted = await read_body(request, SimulatePolicy)
    rehearsal = await deps_of(request, Deps).rehearser.rehearse(
        tenant_of(request), wanted.wish(), wanted.draft(), role=caller_of(request).role
    )
    return PolicyRehearsal.of(rehearsal)


@get(
    "/{policy_id:str}",
    **operation(
        summary="Show a policy, also a deleted one.",
        tag=_TAG,
        scope="router:read",
        test_keys=True,
        path={"policy_id": POLICY},
        answer=PolicyView,
        problems=["policy_not_found"],
    ),
)
async def show_policy(request: AnyRequest) -> Response[PolicyView]:
    """Show a policy."""
    wanted = _policy_id(request)
    async with _tenant(request) as tx:
        found = await store.find_policy(tx, wanted)
        if found is None:
            raise UnknownPolicyError(f"there is no policy with the id {wanted}")
        return _shown(await _changer(request).judged(tx, found))


@put(
    "/{policy_id:str}",
    **operation(
        summary="Change a policy: it says from now on what the body says, whole.",
        tag=_TAG,
        scope="router:write",
        path={"policy_id": POLICY},
        body=PutPolicy,
        answer=PolicyView,
        problems=["policy_not_found", "policy_deleted"],
        headers=["If-Match"],
        description="Each change is a version. A body that says the same as before changes nothing.",
    ),
)
async def put_policy(request: AnyRequest) -> Response[PolicyView]:
    """Change a policy."""
    wanted = await read_body(request, PutPolicy)

    def expect(known: Policy) -> None:
        expect_version(request.scope, known.version)
        if wanted.use_case not in (None, known.use_case):
            raise BadValueError(
                "use_case", f"is {known.use_case} and can't be changed; make a policy for the other use case"
            )

    async with _tenant(request) as tx:
        done = await _changer(request).change(
            tx, _policy_id(request), wanted.terms(), expect=expect, actor=caller_of(request).actor
        )
    return _shown(done)


@delete(
    "/{policy_id:str}",
    **operation(
        summary="Delete a policy: new messages of its use case go out as without one.",
        tag=_TAG,
        scope="router:write",
        path={"policy_id": POLICY},
        answer=PolicyView,
        problems=["policy_not_found", "policy_deleted"],
        headers=["If-Match"],
        if_match="optional",
        description=(
            "Messages under way finish by the ladder that they began with. Until `grace_period_ends_at` it can be "
            "restored; a new policy for the use case can be made at any time. `If-Match` may be left out."
        ),
    ),
)
async def delete_policy(request: AnyRequest) -> Response[PolicyView]:
    """Delete a policy."""
    async with _tenant(request) as tx:
        gone = await _changer(request).delete(
            tx, _policy_id(request), expect=_if_named(request), actor=caller_of(request).actor
        )
    return _shown(Changed(policy=gone, warnings=[]))


@post(
    "/{policy_id:str}/restore",
    **operation(
        summary="Put a deleted policy in force again, as it was.",
        tag=_TAG,
        scope="router:write",
        path={"policy_id": POLICY},
        answer=PolicyView,
        problems=["policy_not_found", "policy_in_force", "policy_grace_over", "policy_exists"],
    ),
)
async def restore_policy(request: AnyRequest) -> Response[PolicyView]:
    """Restore a policy."""
    async with _tenant(request) as tx:
        done = await _changer(request).restore(tx, _policy_id(request), actor=caller_of(request).actor)
    return _shown(done)


@post(
    "/{policy_id:str}/rollback",
    **operation(
        summary="Let a policy say again what an earlier version said.",
        tag=_TAG,
        scope="router:write",
        path={"policy_id": POLICY},
        body=RollBackPolicy,
        answer=PolicyView,
        problems=["policy_not_found", "policy_version_not_found", "policy_deleted"],
        headers=["If-Match"],
        if_match="optional",
        description="That is a new version too. `If-Match` may be left out.",
    ),
)
async def roll_back_policy(request: AnyRequest) -> Response[PolicyView]:
    """Roll a policy back."""
    wanted = await read_body(request, RollBackPolicy)
    async with _tenant(request) as tx:
        done = await _changer(request).roll_back(
            tx,
            _policy_id(request),
            wanted.version,
            expect=_if_named(request),
            actor=caller_of(request).actor,
        )
    return _shown(done)


@get(
    "/{policy_id:str}/versions",
    **operation(
        summary="List the versions of a policy, the newest first.",
        tag=_TAG,
        scope="router:read",
        test_keys=True,
        path={"policy_id": POLICY},
        query=PageQuery,
        answer=Page[PolicyVersionView],
        problems=["policy_not_found"],
    ),
)
async def list_policy_versions(request: AnyRequest) -> Page[PolicyVersionView]:
    """List the versions of a policy."""
    wanted = _policy_id(request)
    query = read_query(request, PageQuery)
    after = read_cursor(query.cursor, listing=_VERSIONS)
    async with _tenant(request) as tx:
        found = await store.list_versions(
            tx, wanted, before=int(after.id.partition(":")[0]) if after else None, limit=query.limit + 1
        )
        if not found and await store.find_policy(tx, wanted) is None:
            raise UnknownPolicyError(f"there is no policy with the id {wanted}")
    return page_of(
        found,
        limit=query.limit,
        listing=_VERSIONS,
        # Versions have no ids; this one ends like an id, as every cursor does.
        id_of=lambda kept: f"{kept.version}:{wanted}",
        render=PolicyVersionView.of,
    )


@get(
    "/{policy_id:str}/versions/{version:str}",
    **operation(
        summary="Show a policy as it was in a version.",
        tag=_TAG,
        scope="router:read",
        test_keys=True,
        path={"policy_id": POLICY},
        answer=PolicyVersionView,
        problems=["policy_version_not_found"],
    ),
)
async def show_policy_version(request: AnyRequest) -> PolicyVersionView:
    """Show a version of a policy."""
    wanted, version = _policy_id(request), _version(request)
    async with _tenant(request) as tx:
        found = await store.find_version(tx, wanted, version)
    if found is None:
        raise UnknownPolicyVersionError(f"there is no version {version} of a policy {wanted}")
    return PolicyVersionView.of(found)


def _policy_id(request: AnyRequest) -> PolicyId:
    return path_id(request, POLICY, "policy_id")


def _version(request: AnyRequest) -> int:
    text = str(request.path_params["version"])
    if not _NUMBER.fullmatch(text):
        raise BadValueError("version", "must be the number of a version, such as 3")
    return int(text)


def _if_named(request: AnyRequest) -> Expect:
    return lambda known: expect_version(request.scope, known.version, required=False)


def _shown(changed: Changed) -> Response[PolicyView]:
    return Response(PolicyView.of(changed), headers={"ETag": etag(changed.policy.version)})


def _tenant(request: AnyRequest) -> AbstractAsyncContextManager[TenantTx]:
    return deps_of(request, Deps).db.tenant(tenant_of(request), caller_role=caller_of(request).role)


def _changer(request: AnyRequest) -> PolicyChanger:
    deps = deps_of(request, Deps)
    return PolicyChanger(
        adapters=deps.adapters,
        accounts=deps.accounts,
        rates=deps.rates,
        audit=deps.audit,
        clock=deps.clock,
        grace=deps.grace,
        channels=deps.channels,
    )


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    return [
        Router(
            _HOME,
            route_handlers=[
                list_policies,
                create_policy,
                simulate_policy,
                show_policy,
                put_policy,
                delete_policy,
                restore_policy,
                roll_back_policy,
                list_policy_versions,
                show_policy_version,
            ],
            opt=given(deps),
        )
    ]
