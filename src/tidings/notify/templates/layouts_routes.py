"""Operations on layouts: texts of a tenant that its templates share."""

from typing import Annotated

from msgspec import Meta, Struct, convert
from msgspec import ValidationError as NotThat

from tidings.contracts.moments import Moment
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.injection import Parsed
from tidings.kernel.http.resources import Resource
from tidings.kernel.mapping import by_name
from tidings.notify.templates import layouts_store
from tidings.notify.templates.device_names import device_remedy
from tidings.notify.templates.errors import UnknownLayoutError
from tidings.notify.templates.expand.expand import BODY
from tidings.notify.templates.layouts_store import Layout
from tidings.notify.templates.wire import PartialName

layouts = Resource("layouts", at="/layouts", tag="layouts", scope="templates")


def _name_in_path(text: str) -> str:
    try:
        name = convert(text, PartialName)
    except NotThat:
        raise BadValueError("name", "must be a lower-case name such as newsletter") from None
    if name == BODY:
        raise BadValueError("name", "must not be body: that is what goes into a layout")
    return name


_Name = Annotated[str, Parsed(_name_in_path)]


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


class LayoutList(Struct, frozen=True, kw_only=True):
    """All layouts; there are at most a hundred."""

    items: list[LayoutView]


@layouts.get()
async def list_layouts(tx: TenantTx) -> LayoutList:
    """List your layouts."""
    return LayoutList(items=[by_name(LayoutView, layout) for layout in await layouts_store.list_layouts(tx)])


@layouts.get("/{name}", problems=["layout_not_found"])
async def show_layout(tx: TenantTx, name: _Name) -> Answer[LayoutView]:
    """Show a layout."""
    return _answer(await layouts_store.find_layout(tx, name=name))


@layouts.put("/{name}", if_match="where_there")
async def put_layout(
    tx: TenantTx,
    name: _Name,
    body: PutLayout,
    if_match: IfMatch,
    caller: Caller,
    audit: AuditLog,
    clock: Clock,
) -> Answer[LayoutView]:
    """Make or change a layout.

    Versions that are published keep the layout as it was when they were. `If-Match` is needed where there is one
    already.
    """
    before = await layouts_store.find_layout(tx, name=name, lock=True)
    if_match.expect(
        before.version if before else None,
        nothing="there is no such layout yet, so there is no version to change from",
    )
    if before is None:
        if remedy := device_remedy(name):
            raise BadValueError("name", remedy)
        if len(await layouts_store.list_layouts(tx)) >= layouts_store.MOST:
            raise BadValueError("name", f"is one too many: a tenant has at most {layouts_store.MOST} layouts")
    await layouts_store.put_layouts(tx, {name: body.text}, actor=caller.actor, now=clock.now())
    await audit.append(tx, [_entry(name, "changed" if before else "created", caller.actor)])
    return _answer(await layouts_store.find_layout(tx, name=name))


@layouts.delete("/{name}", problems=["layout_not_found"])
async def delete_layout(
    tx: TenantTx, name: _Name, if_match: IfMatch, caller: Caller, audit: AuditLog
) -> None:
    """Take a layout away; what was published with it keeps it."""
    before = await layouts_store.find_layout(tx, name=name, lock=True)
    if before is None:
        raise UnknownLayoutError
    if_match.expect(before.version)
    await layouts_store.delete_layout(tx, name=name)
    await audit.append(tx, [_entry(name, "deleted", caller.actor)])


def _answer(layout: Layout | None) -> Answer[LayoutView]:
    if layout is None:
        raise UnknownLayoutError
    return Answer(by_name(LayoutView, layout), version=layout.version)


def _entry(name: str, action: str, actor: str) -> Entry:
    return Entry("layout", name, action, actor, after={"name": name})
