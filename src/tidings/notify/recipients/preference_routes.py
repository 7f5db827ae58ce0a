"""What HTTP calls about preferences."""

from collections.abc import Callable
from typing import Any

from litestar import Request, Response, get, patch, put

from tidings.contracts.ids import RECIPIENT
from tidings.kernel.http.bodies import read_body
from tidings.kernel.http.callers import caller_of, tenant_of
from tidings.kernel.http.etags import etag, expect_version
from tidings.kernel.http.operations import deps_of, operation, path_id
from tidings.notify.recipients import preference_store, store
from tidings.notify.recipients.change_preferences import PreferenceChanger
from tidings.notify.recipients.deps import Deps
from tidings.notify.recipients.errors import UnknownRecipientError
from tidings.notify.recipients.preferences_model import Choices, Preferences, nothing_chosen
from tidings.notify.recipients.wire import PreferencesView, UpdatePreferences

_TAG = "preferences"
_ID = "recipient_id"
_PATH = {_ID: RECIPIENT}

AnyRequest = Request[Any, Any, Any]


@get(
    "/{recipient_id:str}/preferences",
    **operation(
        summary="Show what a recipient allows.",
        tag=_TAG,
        scope="recipients:read",
        path=_PATH,
        answer=PreferencesView,
        problems=["recipient_not_found"],
        description="Somebody who never chose has version 0, and that is an ETag to change from.",
    ),
)
async def show_preferences(request: AnyRequest) -> Response[PreferencesView]:
    """Show what a recipient allows."""
    deps = deps_of(request, Deps)
    recipient_id = path_id(request, RECIPIENT, _ID)
    async with deps.db.tenant(tenant_of(request), caller_role=caller_of(request).role) as tx:
        if not await store.find_recipients(tx, ids=[recipient_id]):
            raise UnknownRecipientError(f"there is no recipient with the id {recipient_id}")
        found = await preference_store.load_preferences(tx, recipient_ids=[recipient_id])
    return _shown(found.get(recipient_id) or nothing_chosen(recipient_id))


@put(
    "/{recipient_id:str}/preferences",
    **operation(
        summary="Replace what a recipient allows; the version it is made from is named by If-Match.",
        tag=_TAG,
        scope="recipients:write",
        path=_PATH,
        body=Choices,
        answer=PreferencesView,
        headers=["If-Match"],
        problems=["recipient_not_found", "recipient_erased"],
        description="What is left out goes back to its default; consent too.",
    ),
)
async def replace_preferences(request: AnyRequest) -> Response[PreferencesView]:
    """Replace what a recipient allows."""
    wanted = await read_body(request, Choices)
    return await _change(request, lambda _: wanted)


@patch(
    "/{recipient_id:str}/preferences",
    **operation(
        summary="Change some of what a recipient allows; the version it is made from is named by If-Match.",
        tag=_TAG,
        scope="recipients:write",
        path=_PATH,
        body=UpdatePreferences,
        answer=PreferencesView,
        headers=["If-Match"],
        problems=["recipient_not_found", "recipient_erased"],
        description="What is left out stays; a field that is given is replaced whole.",
    ),
)
async def update_preferences(request: AnyRequest) -> Response[PreferencesView]:
    """Change some of what a recipient allows."""
    wanted = await read_body(request, UpdatePreferences)
    return await _change(request, lambda before: wanted.over(before.choices))


async def _change(request: AnyRequest, wanted: Callable[[Preferences], Choices]) -> Response[PreferencesView]:
    deps = deps_of(request, Deps)
    recipient_id = path_id(request, RECIPIENT, _ID)
    caller = caller_of(request)
    categories = await deps.categories.of(tenant_of(request))

    def make(before: Preferences) -> Choices:
        expect_version(request.scope, before.version)
        return wanted(before)

    async with deps.db.tenant(tenant_of(request), caller_role=caller.role) as tx:
        changer = PreferenceChanger(outbox=deps.outbox, audit=deps.audit, clock=deps.clock)
        after = await changer.change(tx, recipient_id, make, categories=categories, actor=caller.actor)
    return _shown(after)


def _shown(preferences: Preferences) -> Response[PreferencesView]:
    return Response(PreferencesView.of(preferences), headers={"ETag": etag(preferences.version)})


HANDLERS = [show_preferences, replace_preferences, update_preferences]
