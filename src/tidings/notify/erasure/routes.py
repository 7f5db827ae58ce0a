"""Operations that erase a recipient, and show the receipt."""

from typing import Annotated

from msgspec import Meta, Struct

from tidings.contracts.ids import RecipientId
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.resources import Resource
from tidings.kernel.ids import TenantId
from tidings.notify.erasure.erase import Eraser, find_receipt
from tidings.notify.erasure.receipt import ErasureReceipt

erasures = Resource("recipients", at="/recipients", tag="recipients", scope="recipients")


class EraseRecipient(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why somebody is erased."""

    #: Kept in the audit: a ticket or a letter's number, nothing personal.
    reason: Annotated[str, Meta(min_length=1, max_length=300)] | None = None


@erasures.post("/{recipient_id}/erase", attested="recipient.erase", problems=["recipient_not_found"])
async def erase_recipient(
    recipient_id: RecipientId,
    tenant_id: TenantId,
    caller: Caller,
    db: Database,
    eraser: Eraser,
    body: EraseRecipient = EraseRecipient(),  # noqa: B008  # frozen
) -> ErasureReceipt:
    """Erase a recipient, for good; the signed receipt says what was destroyed.

    Destroys the recipient's key, clears what stood in the clear, and stops what waits. Suppressions go on holding the
    address back. There is no way back. Doing it again gives the same receipt.
    """
    # Notifications of every month are cleared: their statements are planned once, by index.
    async with db.tenant(tenant_id, caller_role=caller.role, by_index=True) as tx:
        return await eraser.erase(tx, recipient_id, actor=caller.actor, reason=body.reason)


@erasures.get("/{recipient_id}/erasure", problems=["recipient_not_found", "not_erased"])
async def show_erasure(tx: TenantTx, recipient_id: RecipientId) -> ErasureReceipt:
    """Show the receipt of an erasure again."""
    return await find_receipt(tx, recipient_id)
