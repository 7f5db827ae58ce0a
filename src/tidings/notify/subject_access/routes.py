"""What HTTP calls for everything that is held about somebody."""

from typing import Any

from litestar import Request, Router, post
from litestar.response import Stream

from tidings.contracts.ids import RECIPIENT
from tidings.kernel.http.callers import caller_of, tenant_of
from tidings.kernel.http.operations import deps_of, given, operation, path_id
from tidings.notify.subject_access.deps import Deps
from tidings.notify.subject_access.sent_messages import AccessRequest

_ID = "recipient_id"
_MEDIA_TYPE = "application/zip"

AnyRequest = Request[Any, Any, Any]


@post(
    "/{recipient_id:str}/export",
    **operation(
        summary="Export everything that is held about a recipient, as a zip.",
        tag="recipients",
        scope="recipients:write",
        path={_ID: RECIPIENT},
        media_type=_MEDIA_TYPE,
        problems=["recipient_not_found", "recipient_erased"],
        description="Addresses in the clear, preferences, consents, suppressions, every notification with its words as far as they can still be put together, files, and the audit. Audited. The zip is made while it is sent: one that ends early has no table of contents and does not open.",
    ),
)
async def export_recipient(request: AnyRequest) -> Stream:
    """Export everything about a recipient."""
    deps = deps_of(request, Deps)
    caller = caller_of(request)
    recipient_id = path_id(request, RECIPIENT, _ID)
    asked = AccessRequest(tenant_id=tenant_of(request), recipient_id=recipient_id, role=caller.role)
    known = await deps.exporter.open(asked, actor=caller.actor)
    return Stream(
        deps.exporter.archive(known),
        media_type=_MEDIA_TYPE,
        headers={
            "Content-Disposition": f'attachment; filename="{recipient_id}.zip"',
            # Nobody's data stays in a cache.
            "Cache-Control": "no-store",
        },
    )


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    return [Router("/api/v1/recipients", route_handlers=[export_recipient], opt=given(deps))]
