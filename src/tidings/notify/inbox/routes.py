"""Operations of a person on their own in-app inbox, with an inbox token."""

from tidings.kernel.db import TenantTx
from tidings.kernel.http.callers import OWN_INBOX, Caller
from tidings.kernel.http.injection import OpenTx
from tidings.kernel.http.paging import Paging
from tidings.kernel.http.resources import Resource
from tidings.kernel.ids import TenantId
from tidings.notify.ids import InboxItemId
from tidings.notify.inbox.desk import InboxDesk, InboxVisitor
from tidings.notify.inbox.wire import (
    InboxActionChosen,
    InboxAllChanged,
    InboxCounts,
    InboxItemChanged,
    InboxItemView,
    InboxPage,
    ReadAll,
    ReadInbox,
    SnoozeItem,
)

# The component calls it from the pages of tenants, with a token of its own and without cookies.
own_inbox = Resource("own-inbox", at="/inbox", tag="inbox (with an inbox token)", any_origin=True)

_ONE = "/{item_id}"
_KNOWN = ["inbox_item_not_found"]
_EVERYTHING = ReadAll()


@own_inbox.get(verb="list", scope=OWN_INBOX, test_keys=True)
async def read_own_inbox(
    tx: TenantTx, caller: Caller, tenant_id: TenantId, query: ReadInbox, paging: Paging, desk: InboxDesk
) -> InboxPage:
    """List what is in your inbox, the newest first, with the counts.

    A page may hold fewer items than its limit although there are more: as long as `next_cursor` is there, go on.
    """
    return await desk.page(tx, InboxVisitor.owner(caller, tenant_id), query, paging)


@own_inbox.get("/counts", verb="count", scope=OWN_INBOX, test_keys=True)
async def count_own_inbox(tx: TenantTx, caller: Caller, tenant_id: TenantId, desk: InboxDesk) -> InboxCounts:
    """Count what is unread and unseen."""
    return await desk.counts(tx, InboxVisitor.owner(caller, tenant_id))


@own_inbox.post("/read-all", verb="read-all", scope=OWN_INBOX, test_keys=True)
async def read_all_of_own_inbox(
    open_tx: OpenTx[TenantTx],
    caller: Caller,
    tenant_id: TenantId,
    desk: InboxDesk,
    body: ReadAll = _EVERYTHING,
) -> InboxAllChanged:
    """Mark everything as read, or all of one category; what arrives meanwhile stays unread."""
    return await desk.read_all(open_tx, InboxVisitor.owner(caller, tenant_id), body.category)


@own_inbox.post("/see-all", verb="see-all", scope=OWN_INBOX, test_keys=True)
async def see_all_of_own_inbox(
    open_tx: OpenTx[TenantTx], caller: Caller, tenant_id: TenantId, desk: InboxDesk
) -> InboxAllChanged:
    """Mark everything as seen, as when the inbox is opened."""
    return await desk.see_all(open_tx, InboxVisitor.owner(caller, tenant_id))


@own_inbox.get(_ONE, verb="show", scope=OWN_INBOX, test_keys=True, problems=_KNOWN)
async def show_own_item(
    tx: TenantTx, caller: Caller, tenant_id: TenantId, item_id: InboxItemId, desk: InboxDesk
) -> InboxItemView:
    """Show one item."""
    return await desk.show(tx, InboxVisitor.owner(caller, tenant_id), item_id)


@own_inbox.post(f"{_ONE}/read", verb="read", scope=OWN_INBOX, test_keys=True, problems=_KNOWN)
async def read_own_item(
    tx: TenantTx, caller: Caller, tenant_id: TenantId, item_id: InboxItemId, desk: InboxDesk
) -> InboxItemChanged:
    """Mark an item as read, and seen.

    The notification, its ladder and the profile learn of the first time: a ladder that waits for `read` sends nothing more.
    """
    return await desk.do(tx, InboxVisitor.owner(caller, tenant_id), item_id, "read")


@own_inbox.post(f"{_ONE}/unread", verb="unread", scope=OWN_INBOX, test_keys=True, problems=_KNOWN)
async def unread_own_item(
    tx: TenantTx, caller: Caller, tenant_id: TenantId, item_id: InboxItemId, desk: InboxDesk
) -> InboxItemChanged:
    """Mark an item as unread."""
    return await desk.do(tx, InboxVisitor.owner(caller, tenant_id), item_id, "unread")


@own_inbox.post(f"{_ONE}/seen", verb="see", scope=OWN_INBOX, test_keys=True, problems=_KNOWN)
async def see_own_item(
    tx: TenantTx, caller: Caller, tenant_id: TenantId, item_id: InboxItemId, desk: InboxDesk
) -> InboxItemChanged:
    """Mark an item as seen."""
    return await desk.do(tx, InboxVisitor.owner(caller, tenant_id), item_id, "see")


@own_inbox.post(f"{_ONE}/archive", verb="archive", scope=OWN_INBOX, test_keys=True, problems=_KNOWN)
async def archive_own_item(
    tx: TenantTx, caller: Caller, tenant_id: TenantId, item_id: InboxItemId, desk: InboxDesk
) -> InboxItemChanged:
    """Put an item out of view, for good or until it is wanted again."""
    return await desk.do(tx, InboxVisitor.owner(caller, tenant_id), item_id, "archive")


@own_inbox.post(f"{_ONE}/unarchive", verb="unarchive", scope=OWN_INBOX, test_keys=True, problems=_KNOWN)
async def unarchive_own_item(
    tx: TenantTx, caller: Caller, tenant_id: TenantId, item_id: InboxItemId, desk: InboxDesk
) -> InboxItemChanged:
    """Put an archived item back into view."""
    return await desk.do(tx, InboxVisitor.owner(caller, tenant_id), item_id, "unarchive")


@own_inbox.post(f"{_ONE}/unsnooze", verb="unsnooze", scope=OWN_INBOX, test_keys=True, problems=_KNOWN)
async def unsnooze_own_item(
    tx: TenantTx, caller: Caller, tenant_id: TenantId, item_id: InboxItemId, desk: InboxDesk
) -> InboxItemChanged:
    """End the snooze of an item now."""
    return await desk.do(tx, InboxVisitor.owner(caller, tenant_id), item_id, "unsnooze")


@own_inbox.post(
    f"{_ONE}/snooze",
    verb="snooze",
    scope=OWN_INBOX,
    test_keys=True,
    problems=_KNOWN,
)
async def snooze_own_item(
    tx: TenantTx,
    caller: Caller,
    tenant_id: TenantId,
    item_id: InboxItemId,
    body: SnoozeItem,
    desk: InboxDesk,
) -> InboxItemChanged:
    """Take an item out of view until a moment; then it comes back on top, unread."""
    return await desk.snooze(tx, InboxVisitor.owner(caller, tenant_id), item_id, body.until)


@own_inbox.post(
    f"{_ONE}/actions/{{action}}",
    verb="act",
    scope=OWN_INBOX,
    test_keys=True,
    problems=[*_KNOWN, "inbox_action_not_found", "inbox_item_acted"],
)
async def act_on_own_item(
    open_tx: OpenTx[TenantTx],
    caller: Caller,
    tenant_id: TenantId,
    item_id: InboxItemId,
    action: str,
    desk: InboxDesk,
) -> InboxActionChosen:
    """Choose an action of an item: the tenant hears of it by `inbox.item.acted.v1`, once.

    The same action again changes nothing; another one is refused. `webhooks` says how many of the tenant's webhooks are called.
    """
    return await desk.act(open_tx, InboxVisitor.owner(caller, tenant_id), item_id, action)


@own_inbox.delete(_ONE, verb="delete", scope=OWN_INBOX, test_keys=True, problems=_KNOWN)
async def delete_own_item(
    tx: TenantTx, caller: Caller, tenant_id: TenantId, item_id: InboxItemId, desk: InboxDesk
) -> None:
    """Remove an item for good."""
    await desk.delete(tx, InboxVisitor.owner(caller, tenant_id), item_id)
