"""The operation that exports everything that is held about a recipient."""

from tidings.contracts.ids import RecipientId
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.resources import Resource
from tidings.kernel.ids import TenantId
from tidings.notify.subject_access.export import SubjectExporter
from tidings.notify.subject_access.sent_messages import AccessRequest

_MEDIA_TYPE = "application/zip"

subject_access = Resource("recipients", at="/recipients", tag="recipients", scope="recipients")


@subject_access.post(
    "/{recipient_id}/export", media_type=_MEDIA_TYPE, problems=["recipient_not_found", "recipient_erased"]
)
async def export_recipient(
    recipient_id: RecipientId, tenant_id: TenantId, caller: Caller, exporter: SubjectExporter
) -> Reply:
    """Export everything that is held about a recipient, as a zip.

    Addresses in the clear, preferences, consents, suppressions, every notification with its words as far as they can
    still be put together, files, what is planned, digests, batches, and the audit. Audited. The zip is made while it is sent: one that ends early has no
    table of contents and does not open.
    """
    asked = AccessRequest(tenant_id=tenant_id, recipient_id=recipient_id, role=caller.role)
    known = await exporter.open(asked, actor=caller.actor)
    return Reply(
        body=exporter.archive(known),
        media_type=_MEDIA_TYPE,
        headers={
            "Content-Disposition": f'attachment; filename="{recipient_id}.zip"',
            # Personal data stays in no cache.
            "Cache-Control": "no-store",
        },
    )
