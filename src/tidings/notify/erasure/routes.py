"""What HTTP calls to erase somebody, and to see the receipt."""

from typing import Annotated, Any

from litestar import Request, Response, Router, get, post
from msgspec import Meta, Struct

from tidings.contracts.ids import RECIPIENT
from tidings.kernel.http.bodies import body_of, read_body
from tidings.kernel.http.callers import caller_of, tenant_of
from tidings.kernel.http.operations import deps_of, given, operation, path_id
from tidings.notify.erasure.deps import Deps
from tidings.notify.erasure.erase import find_receipt
from tidings.notify.erasure.receipt import ErasureReceipt

_TAG = "recipients"
_ID = "recipient_id"
_PATH = {_ID: RECIPIENT}

AnyRequest = Request[Any, Any, Any]


class EraseRecipient(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why somebody is erased."""

    #: Kept in the audit: a ticket or a letter's number, nothing personal.
    reason: Annotated[str, Meta(min_length=1, max_length=300)] | None = None


@post(
    "/{recipient_id:str}/erase",
    **operation(
        summary="Erase a recipient, for good; the signed receipt says what was destroyed.",
        tag=_TAG,
        scope="recipients:write",
        path=_PATH,
        body=EraseRecipient,
        body_optional=True,
        answer=ErasureReceipt,
        problems=["recipient_not_found"],
        description="Destroys the recipient's key, clears what stood in the clear, and stops what waits. Suppressions go on holding the address back. There is no way back. Doing it again gives the same receipt.",
    ),
)
async def erase_recipient(request: AnyRequest) -> Response[ErasureReceipt]:
    """Erase a recipient."""
    deps = deps_of(request, Deps)
    recipient_id = path_id(request, RECIPIENT, _ID)
    wanted = await read_body(request, EraseRecipient) if await body_of(request) else EraseRecipient()
    caller = caller_of(request)
    async with deps.db.tenant(tenant_of(request), caller_role=caller.role, by_index=True) as tx:
        receipt = await deps.eraser.erase(tx, recipient_id, actor=caller.actor, reason=wanted.reason)
    return Response(receipt)


@get(
    "/{recipient_id:str}/erasure",
    **operation(
        summary="Show the receipt of an erasure again.",
        tag=_TAG,
        scope="recipients:read",
        path=_PATH,
        answer=ErasureReceipt,
        problems=["recipient_not_found", "not_erased"],
    ),
)
async def show_erasure(request: AnyRequest) -> Response[ErasureReceipt]:
    """Show the receipt of an erasure."""
    deps = deps_of(request, Deps)
    recipient_id = path_id(request, RECIPIENT, _ID)
    async with deps.db.tenant(tenant_of(request), caller_role=caller_of(request).role) as tx:
        return Response(await find_receipt(tx, recipient_id))


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    return [Router("/api/v1/recipients", route_handlers=[erase_recipient, show_erasure], opt=given(deps))]
