"""Drafts of templates that an AI has written, for who approves them; notify keeps them."""

from collections.abc import Sequence
from typing import Any, Protocol

from msgspec import Struct

from tidings.contracts.moments import Moment
from tidings.kernel.db import TenantTx


class AiDraft(Struct, frozen=True, kw_only=True):
    """A version of a template that waits for somebody's approval."""

    #: `tpv_…`
    version_id: str
    #: Counts its changes: a decision is about what somebody has read.
    revision: int
    key: str
    channel: str
    semver: str
    drafted_at: Moment
    #: What it was made by, and of what.
    provenance: dict[str, Any]


class AiDrafts(Protocol):
    """What notify offers: the drafts of a tenant, and what people decide about them."""

    async def waiting(self, tx: TenantTx) -> Sequence[AiDraft]:
        """Those that nobody has approved yet, the newest first."""
        ...

    async def approve(self, tx: TenantTx, draft: AiDraft, *, actor: str) -> None:
        """Approve it, so that it can be published; refused to who asked for it or wrote it down."""
        ...

    async def put_away(self, tx: TenantTx, draft: AiDraft, *, actor: str) -> None:
        """It is not to be published."""
        ...
