"""Operations on digests: see what is being gathered, and send it now."""

from typing import Final

from tidings.contracts.ids import RECIPIENT
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.resources import Resource
from tidings.notify.digests import store
from tidings.notify.digests.errors import DigestNotOpenError
from tidings.notify.digests.wire import DigestDetails, DigestView, ListDigests
from tidings.notify.ids import DigestWindowId

digests = Resource("digests", at="/digests", tag="notifications", scope="notifications")

_ONE: Final = "/{digest_id}"
#: Items that are listed with a window.
_MOST_ITEMS: Final = 1_000


@digests.get(test_keys=True)
async def list_digests(tx: TenantTx, query: ListDigests, paging: Paging, caller: Caller) -> Page[DigestView]:
    """List digests, the newest first.

    Those that are being gathered, unless `state` asks for others. What was flushed is kept for thirty days.
    """
    recipient = None if query.recipient is None else RECIPIENT.parse(query.recipient, field="recipient")
    found = await store.list_windows(
        tx,
        states=[query.state],
        recipient_id=recipient,
        category=query.category,
        channel=query.channel,
        tests_only=_is_test(caller),
        after_id=paging.after_id,
        limit=paging.fetch,
    )
    return paging.page(found, DigestView.of)


@digests.get(_ONE, test_keys=True, problems=["digest_not_found"])
async def show_digest(tx: TenantTx, digest_id: DigestWindowId, caller: Caller) -> DigestDetails:
    """Show a digest with its items."""
    window = await store.find_window(tx, digest_id, tests_only=_is_test(caller))
    return DigestDetails.with_items(window, await store.list_items(tx, digest_id, limit=_MOST_ITEMS))


@digests.post(f"{_ONE}/flush", test_keys=True, problems=["digest_not_found", "digest_not_open"])
async def flush_digest(
    tx: TenantTx, digest_id: DigestWindowId, caller: Caller, audit: AuditLog, clock: Clock
) -> DigestView:
    """Send a digest now, without waiting for its time.

    It is due at once, and a worker flushes it within a second or so: one message for all items, or the item by itself where
    there is only one. What is ordered after that is gathered anew. It is audited.
    """
    window = await store.find_window(tx, digest_id, tests_only=_is_test(caller))
    if not await store.flush_now(tx, digest_id, now=clock.now()):
        raise DigestNotOpenError(f"{digest_id} is {window.state}: it can't be flushed any more")
    await audit.append(tx, [Entry("digest", digest_id, "flushed", caller.actor)])
    return DigestView.of(await store.find_window(tx, digest_id, tests_only=False))


def _is_test(caller: Caller) -> bool:
    """For a test key the live ones are not there."""
    return caller.environment == "test"
