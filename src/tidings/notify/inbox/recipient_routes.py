"""Operations of a tenant on the in-app inboxes of its recipients, and the tokens that open them to their owners."""

from datetime import timedelta

from tidings.contracts.ids import RecipientId
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import OpenTx
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.resources import Resource
from tidings.kernel.ids import TenantId
from tidings.notify.access.inbox_tokens import InboxTokens
from tidings.notify.ids import InboxItemId
from tidings.notify.inbox import store
from tidings.notify.inbox.desk import InboxDesk, InboxVisitor
from tidings.notify.inbox.model import InboxKey
from tidings.notify.inbox.wire import (
    InboxAllChanged,
    InboxCounts,
    InboxItemChanged,
    InboxItemView,
    InboxTokenView,
    MakeInboxToken,
    ReadAll,
    ReadInbox,
    SnoozeItem,
)
from tidings.notify.recipients import store as recipient_store
from tidings.notify.recipients.errors import ErasedRecipientError

inboxes = Resource("inbox", at="/recipients", tag="inbox", scope="inbox")

_ALL = "/{recipient_id}/inbox"
_ONE = f"{_ALL}/{{item_id}}"
_TOKENS = "/{recipient_id}/inbox-tokens"
_NOBODY = ["recipient_not_found"]
_KNOWN = [*_NOBODY, "inbox_item_not_found"]
_EVERYTHING = ReadAll()
_AN_HOUR = MakeInboxToken()


@inboxes.post(
    _TOKENS,
    verb="make-token",
    status=201,
    test_keys=True,
    problems=["recipient_not_found", "recipient_erased"],
)
async def make_inbox_token(
    open_tx: OpenTx[TenantTx],
    caller: Caller,
    tenant_id: TenantId,
    recipient_id: RecipientId,
    tokens: InboxTokens,
    clock: Clock,
    body: MakeInboxToken = _AN_HOUR,
) -> Answer[InboxTokenView]:
    """Make a token with which a recipient's browser or app reads their inbox.

    Your backend makes it, once it knows who is signed in. It opens `/api/v1/inbox` of this recipient and nothing else, and is
    stored nowhere. A test key makes tokens for the test inbox.
    """
    async with open_tx() as tx:
        recipient = await recipient_store.find_recipient(tx, recipient_id)
        if recipient.erased_at is not None:
            raise ErasedRecipientError
    until = clock.now() + timedelta(seconds=body.expires_in)
    made = await tokens.make(tenant_id, recipient_id, is_test=caller.environment == "test", until=until)
    return Answer(
        InboxTokenView(token=made.text, expires_at=made.expires_at),
        status=201,
        headers={"cache-control": "no-store"},
    )


@inboxes.delete(_TOKENS, verb="void-tokens", test_keys=True, problems=_NOBODY)
async def void_inbox_tokens(
    tx: TenantTx, caller: Caller, tenant_id: TenantId, recipient_id: RecipientId, clock: Clock
) -> None:
    """Void all tokens of a recipient that were made until now: live and test, or test alone with a test key."""
    await recipient_store.find_recipient(tx, recipient_id)
    tests_only = caller.environment == "test"
    keys = [
        InboxKey(tenant_id=tenant_id, recipient_id=recipient_id, is_test=is_test)
        for is_test in ((True,) if tests_only else (False, True))
    ]
    await store.lock_inboxes(tx, keys)
    await store.void_tokens(tx, recipient_id, now=clock.now(), tests_only=tests_only)
    # Streams that such a token has opened end with it.
    await store.announce(tx, keys)


@inboxes.get(_ALL, verb="list", test_keys=True, problems=_NOBODY)
async def read_inbox(
    tx: TenantTx,
    caller: Caller,
    tenant_id: TenantId,
    recipient_id: RecipientId,
    query: ReadInbox,
    paging: Paging,
    desk: InboxDesk,
) -> Page[InboxItemView]:
    """List what is in a recipient's inbox, the newest first.

    A page may hold fewer items than its limit although there are more: as long as `next_cursor` is there, go on.
    """
    page = await desk.page(tx, InboxVisitor.tenant(caller, tenant_id, recipient_id), query, paging)
    return Page(items=page.items, next_cursor=page.next_cursor)


@inboxes.get(f"{_ALL}/counts", verb="count", test_keys=True, problems=_NOBODY)
async def count_inbox(
    tx: TenantTx, caller: Caller, tenant_id: TenantId, recipient_id: RecipientId, desk: InboxDesk
) -> InboxCounts:
    """Count what is unread and unseen in a recipient's inbox."""
    return await desk.counts(tx, InboxVisitor.tenant(caller, tenant_id, recipient_id))


@inboxes.post(f"{_ALL}/read-all", verb="read-all", test_keys=True, problems=_NOBODY)
async def read_all_of_inbox(
    open_tx: OpenTx[TenantTx],
    caller: Caller,
    tenant_id: TenantId,
    recipient_id: RecipientId,
    desk: InboxDesk,
    body: ReadAll = _EVERYTHING,
) -> InboxAllChanged:
    """Mark everything as read for a recipient, or all of one category."""
    return await desk.read_all(open_tx, InboxVisitor.tenant(caller, tenant_id, recipient_id), body.category)


@inboxes.get(_ONE, verb="show", test_keys=True, problems=_KNOWN)
async def show_inbox_item(
    tx: TenantTx,
    caller: Caller,
    tenant_id: TenantId,
    recipient_id: RecipientId,
    item_id: InboxItemId,
    desk: InboxDesk,
) -> InboxItemView:
    """Show one item of a recipient's inbox."""
    return await desk.show(tx, InboxVisitor.tenant(caller, tenant_id, recipient_id), item_id)


@inboxes.post(f"{_ONE}/read", verb="read", test_keys=True, problems=_KNOWN)
async def read_inbox_item(
    tx: TenantTx,
    caller: Caller,
    tenant_id: TenantId,
    recipient_id: RecipientId,
    item_id: InboxItemId,
    desk: InboxDesk,
) -> InboxItemChanged:
    """Mark an item as read, for its recipient."""
    return await desk.do(tx, InboxVisitor.tenant(caller, tenant_id, recipient_id), item_id, "read")


@inboxes.post(f"{_ONE}/unread", verb="unread", test_keys=True, problems=_KNOWN)
async def unread_inbox_item(
    tx: TenantTx,
    caller: Caller,
    tenant_id: TenantId,
    recipient_id: RecipientId,
    item_id: InboxItemId,
    desk: InboxDesk,
) -> InboxItemChanged:
    """Mark an item as unread, for its recipient."""
    return await desk.do(tx, InboxVisitor.tenant(caller, tenant_id, recipient_id), item_id, "unread")


@inboxes.post(f"{_ONE}/archive", verb="archive", test_keys=True, problems=_KNOWN)
async def archive_inbox_item(
    tx: TenantTx,
    caller: Caller,
    tenant_id: TenantId,
    recipient_id: RecipientId,
    item_id: InboxItemId,
    desk: InboxDesk,
) -> InboxItemChanged:
    """Put an item out of view, for its recipient."""
    return await desk.do(tx, InboxVisitor.tenant(caller, tenant_id, recipient_id), item_id, "archive")


@inboxes.post(f"{_ONE}/unarchive", verb="unarchive", test_keys=True, problems=_KNOWN)
async def unarchive_inbox_item(
    tx: TenantTx,
    caller: Caller,
    tenant_id: TenantId,
    recipient_id: RecipientId,
    item_id: InboxItemId,
    desk: InboxDesk,
) -> InboxItemChanged:
    """Put an archived item back into view, for its recipient."""
    return await desk.do(tx, InboxVisitor.tenant(caller, tenant_id, recipient_id), item_id, "unarchive")


@inboxes.post(f"{_ONE}/unsnooze", verb="unsnooze", test_keys=True, problems=_KNOWN)
async def unsnooze_inbox_item(
    tx: TenantTx,
    caller: Caller,
    tenant_id: TenantId,
    recipient_id: RecipientId,
    item_id: InboxItemId,
    desk: InboxDesk,
) -> InboxItemChanged:
    """End the snooze of an item now, for its recipient."""
    return await desk.do(tx, InboxVisitor.tenant(caller, tenant_id, recipient_id), item_id, "unsnooze")


@inboxes.post(
    f"{_ONE}/snooze",
    verb="snooze",
    test_keys=True,
    problems=_KNOWN,
)
async def snooze_inbox_item(
    tx: TenantTx,
    caller: Caller,
    tenant_id: TenantId,
    recipient_id: RecipientId,
    item_id: InboxItemId,
    body: SnoozeItem,
    desk: InboxDesk,
) -> InboxItemChanged:
    """Take an item out of view until a moment, for its recipient."""
    visitor = InboxVisitor.tenant(caller, tenant_id, recipient_id)
    return await desk.snooze(tx, visitor, item_id, body.until)


@inboxes.delete(_ONE, verb="delete", test_keys=True, problems=_KNOWN)
async def delete_inbox_item(
    tx: TenantTx,
    caller: Caller,
    tenant_id: TenantId,
    recipient_id: RecipientId,
    item_id: InboxItemId,
    desk: InboxDesk,
) -> None:
    """Remove an item for good, for its recipient."""
    await desk.delete(tx, InboxVisitor.tenant(caller, tenant_id, recipient_id), item_id)
