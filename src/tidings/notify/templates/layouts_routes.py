"""What HTTP calls about layouts: texts of a tenant that its templates share."""

from contextlib import AbstractAsyncContextManager
from typing import Annotated, Any

from litestar import Request, Response, Router, delete, get, put
from litestar.handlers import HTTPRouteHandler
from msgspec import Meta, Struct, convert
from msgspec import ValidationError as NotThat

from tidings.contracts.moments import Moment
from tidings.kernel.audit.log import Entry
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.bodies import read_body
from tidings.kernel.http.callers import caller_of
from tidings.kernel.http.etags import etag, expect_nothing, expect_version
from tidings.kernel.http.operations import deps_of, given, operation
from tidings.notify.templates import layouts_store
from tidings.notify.templates.deps import Deps
from tidings.notify.templates.device_names import device_remedy
from tidings.notify.templates.errors import UnknownLayoutError
from tidings.notify.templates.expand.expand import BODY
from tidings.notify.templates.layouts_store import Layout
from tidings.notify.templates.wire import PartialName

_TAG = "layouts"
AnyRequest = Request[Any, Any, Any]


class PutLayout(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The text of a layout."""

    #: In Handlebars; `{{> body}}` is where a body goes.
    text: Annotated[str, Meta(min_length=1, max_length=layouts_store.LONGEST)]


class LayoutView(Struct, frozen=True, kw_only=True):
    """A layout."""

    name: str
    text: str
    updated_by: str
    version: int
    updated_at: Moment

    @classmethod
    def of(cls, layout: Layout) -> "LayoutView":
        """The layout as it is shown."""
        return cls(
            name=layout.name,
            text=layout.text,
            updated_by=layout.updated_by,
            version=layout.version,
            updated_at=layout.updated_at,
        )


class LayoutList(Struct, frozen=True, kw_only=True):
    """All layouts; there are at most a hundred."""

    items: list[LayoutView]


@get(
    "/",
    **operation(summary="List your layouts.", tag=_TAG, scope="templates:read", answer=LayoutList),
)
async def list_layouts(request: AnyRequest) -> LayoutList:
    """List layouts."""
    async with _begin(request) as tx:
        return LayoutList(items=[LayoutView.of(layout) for layout in await layouts_store.list_layouts(tx)])


@get(
    "/{name:str}",
    **operation(
        summary="Show a layout.",
        tag=_TAG,
        scope="templates:read",
        answer=LayoutView,
        problems=["layout_not_found"],
    ),
)
async def show_layout(request: AnyRequest) -> Response[LayoutView]:
    """Show a layout."""
    name = _name(request)
    async with _begin(request) as tx:
        layout = await layouts_store.find_layout(tx, name=name)
    if layout is None:
        raise UnknownLayoutError
    return Response(LayoutView.of(layout), headers={"ETag": etag(layout.version)})


@put(
    "/{name:str}",
    **operation(
        summary="Make or change a layout.",
        tag=_TAG,
        scope="templates:write",
        body=PutLayout,
        answer=LayoutView,
        headers=["If-Match"],
        if_match="where_there",
        problems=["stale_version"],
        description="Versions that are published keep the layout as it was when they were. "
        "`If-Match` is needed where there is one already.",
    ),
)
async def put_layout(request: AnyRequest) -> Response[LayoutView]:
    """Put a layout."""
    deps = deps_of(request, Deps)
    name = _name(request)
    wanted = await read_body(request, PutLayout)
    actor = caller_of(request).actor
    async with _begin(request) as tx:
        there = await layouts_store.find_layout(tx, name=name, lock=True)
        if there is not None:
            expect_version(request.scope, there.version)
        else:
            expect_nothing(
                request.scope, "there is no such layout yet, so there is no version to change from"
            )
            if remedy := device_remedy(name):
                raise BadValueError("name", remedy)
            if len(await layouts_store.list_layouts(tx)) >= layouts_store.MOST:
                raise BadValueError(
                    "name", f"is one too many: a tenant has at most {layouts_store.MOST} layouts"
                )
        await layouts_store.put_layouts(tx, {name: wanted.text}, actor=actor, now=deps.clock.now())
        layout = await layouts_store.find_layout(tx, name=name)
        await deps.audit.append(tx, [_entry(name, "changed" if there else "created", actor)])
    if layout is None:
        raise UnknownLayoutError
    return Response(LayoutView.of(layout), headers={"ETag": etag(layout.version)})


@delete(
    "/{name:str}",
    **operation(
        summary="Take a layout away; what was published with it keeps it.",
        tag=_TAG,
        scope="templates:write",
        status=204,
        headers=["If-Match"],
        problems=["layout_not_found", "stale_version"],
    ),
)
async def delete_layout(request: AnyRequest) -> None:
    """Delete a layout."""
    deps = deps_of(request, Deps)
    name = _name(request)
    async with _begin(request) as tx:
        there = await layouts_store.find_layout(tx, name=name, lock=True)
        if there is None:
            raise UnknownLayoutError
        expect_version(request.scope, there.version)
        await layouts_store.delete_layout(tx, name=name)
        await deps.audit.append(tx, [_entry(name, "deleted", caller_of(request).actor)])


def _begin(request: AnyRequest) -> AbstractAsyncContextManager[TenantTx]:
    caller = caller_of(request)
    if caller.tenant_id is None:
        raise BadValueError("X-Tenant-Id", "must name the tenant")
    return deps_of(request, Deps).db.tenant(caller.tenant_id, caller_role=caller.role)


def _name(request: AnyRequest) -> str:
    try:
        name = convert(request.path_params["name"], PartialName)
    except NotThat:
        raise BadValueError("name", "must be a lower-case name such as newsletter") from None
    if name == BODY:
        raise BadValueError("name", "must not be body: that is what goes into a layout")
    return name


def _entry(name: str, action: str, actor: str) -> Entry:
    return Entry(entity_type="layout", entity_id=name, action=action, actor=actor, after={"name": name})


HANDLERS: list[HTTPRouteHandler] = [list_layouts, show_layout, put_layout, delete_layout]


def layout_router(deps: Deps) -> Router:
    """The routes of layouts."""
    return Router("/api/v1/layouts", route_handlers=HANDLERS, opt=given(deps))
