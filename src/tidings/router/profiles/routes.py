"""What HTTP calls about profiles."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from litestar import Request, Response, Router, delete, get, patch

from tidings.contracts.ids import RECIPIENT
from tidings.kernel.db import TenantTx
from tidings.kernel.http.bodies import read_body, read_query
from tidings.kernel.http.callers import caller_of, tenant_of
from tidings.kernel.http.etags import etag, expect_version
from tidings.kernel.http.operations import deps_of, given, operation, path_id
from tidings.kernel.http.paging import Page, page_of, read_cursor
from tidings.router.profiles import store
from tidings.router.profiles.change import ProfileChanger, expect_known
from tidings.router.profiles.deps import Deps
from tidings.router.profiles.wire import ListProfiles, PatchProfile, ProfileView

_TAG = "profiles"
_LISTING = "profiles"
_ID = "recipient_id"
_PATH = {_ID: RECIPIENT}

AnyRequest = Request[Any, Any, Any]


@get(
    "/",
    **operation(
        summary="List profiles, the newest first.",
        tag=_TAG,
        scope="router:read",
        query=ListProfiles,
        answer=Page[ProfileView],
        description="`discovery_state` shows those only who are known so well: `UNSEEN`, `LEARNING` or `STABLE`.",
    ),
)
async def list_profiles(request: AnyRequest) -> Page[ProfileView]:
    """List profiles."""
    query = read_query(request, ListProfiles)
    after = read_cursor(query.cursor, listing=_LISTING)
    async with _tenant(request) as tx:
        found = await store.list_profiles(
            tx,
            discovery=query.discovery_state,
            after_id=after.id if after else None,
            limit=query.limit + 1,
        )
    now = deps_of(request, Deps).clock.now()
    return page_of(
        found,
        limit=query.limit,
        listing=_LISTING,
        id_of=lambda profile: profile.id,
        render=lambda profile: ProfileView.of(profile, now),
    )


@get(
    "/{recipient_id:str}",
    **operation(
        summary="Show what was learned about reaching a recipient.",
        tag=_TAG,
        scope="router:read",
        path=_PATH,
        answer=ProfileView,
        problems=["profile_not_found"],
        description=(
            "How likely a message arrives on each channel, as of now, and what is known for certain. "
            "Somebody of whom nothing was observed yet is `UNSEEN`, with the version 0."
        ),
    ),
)
async def show_profile(request: AnyRequest) -> Response[ProfileView]:
    """Show a profile."""
    deps = deps_of(request, Deps)
    wanted = path_id(request, RECIPIENT, _ID)
    async with _tenant(request) as tx:
        found = (await store.load(tx, [wanted])).get(wanted)
        if found is None:
            await expect_known(deps.recipients, tx, wanted)
    return _shown(ProfileView.unseen(wanted) if found is None else ProfileView.of(found, deps.clock.now()))


@patch(
    "/{recipient_id:str}",
    **operation(
        summary="Say by hand what is known about reaching a recipient.",
        tag=_TAG,
        scope="router:write",
        path=_PATH,
        body=PatchProfile,
        answer=ProfileView,
        headers=["If-Match"],
        if_match="optional",
        problems=["profile_not_found"],
        description=(
            "Of each fact the later word counts: one with an `observed_at` before what is known changes nothing. "
            "So `If-Match` may be left out. Audited."
        ),
    ),
)
async def change_profile(request: AnyRequest) -> Response[ProfileView]:
    """Say what is known."""
    deps = deps_of(request, Deps)
    facts, at = (await read_body(request, PatchProfile)).told(deps.clock.now())
    async with _tenant(request) as tx:
        changed = await _changer(deps).tell(
            tx,
            path_id(request, RECIPIENT, _ID),
            facts,
            at=at,
            expect=lambda version: expect_version(request.scope, version, required=False),
            actor=caller_of(request).actor,
        )
    return _shown(ProfileView.of(changed, deps.clock.now()))


@delete(
    "/{recipient_id:str}",
    **operation(
        summary="Forget what was learned about reaching a recipient.",
        tag=_TAG,
        scope="router:write",
        path=_PATH,
        status=204,
        headers=["If-Match"],
        if_match="optional",
        problems=["profile_not_found"],
        description=(
            "The recipient stays, and what comes next is learned anew; forgetting again changes nothing. Audited. "
            "Erasing the recipient forgets it for good."
        ),
    ),
)
async def forget_profile(request: AnyRequest) -> None:
    """Forget what was learned."""
    async with _tenant(request) as tx:
        await _changer(deps_of(request, Deps)).forget(
            tx,
            path_id(request, RECIPIENT, _ID),
            expect=lambda version: expect_version(request.scope, version, required=False),
            actor=caller_of(request).actor,
        )


def _shown(view: ProfileView) -> Response[ProfileView]:
    return Response(view, headers={"ETag": etag(view.version)})


def _tenant(request: AnyRequest) -> AbstractAsyncContextManager[TenantTx]:
    return deps_of(request, Deps).db.tenant(tenant_of(request), caller_role=caller_of(request).role)


def _changer(deps: Deps) -> ProfileChanger:
    return ProfileChanger(recipients=deps.recipients, audit=deps.audit, clock=deps.clock)


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    return [
        Router(
            "/api/v1/router/profiles",
            route_handlers=[list_profiles, show_profile, change_profile, forget_profile],
            opt=given(deps),
        )
    ]
