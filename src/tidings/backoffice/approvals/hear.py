"""The consumer group that hears that nothing waits any more: what is published, started or cancelled, whoever did it, needs no approval."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from tidings.backoffice.alerts.alerts import Alerts
from tidings.backoffice.approvals.model import alert_key
from tidings.contracts.batches import BatchMoved
from tidings.contracts.templates import TemplatePublished
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.events import Event

GROUP: Final = "backoffice.approvals"
_PUBLISHED: Final = "template.published.v1"
_MOVED: Final = ("batch.started.v1", "batch.cancelled.v1")
SUBJECTS: Final = (_PUBLISHED, *_MOVED)

_version = msgspec.json.Decoder(TemplatePublished).decode
_batch = msgspec.json.Decoder(BatchMoved).decode


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ApprovalHearer:
    """Ends alerts; of what nobody asked an approval for there is none."""

    alerts: Alerts

    async def handle(self, tx: TenantTx | PlatformTx, events: Sequence[Event]) -> None:
        """Of one tenant, or of the platform's own templates."""
        await self.alerts.resolve(tx, sorted({_key_of(event) for event in events}))


def _key_of(event: Event) -> str:
    if event.subject == _PUBLISHED:
        return alert_key("template_approval", _version(event.data).version_id)
    return alert_key("batch_approval", _batch(event.data).batch_id)
