"""The contract's `AiDrafts`: drafts of an AI that wait for approval."""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import convert

from tidings.contracts.template_drafts import AiDraft
from tidings.contracts.tenants import Channel
from tidings.kernel.db import TenantTx
from tidings.kernel.refusals import StaleVersionError
from tidings.kernel.sql import Queries
from tidings.notify.templates.drafts import DraftChanger
from tidings.notify.templates.model import TemplateVersion, VersionName

QUERIES = Queries.beside(__file__)
_REASON: Final = "decided in the inbox of suggestions"


class StoredAiDrafts:
    """Reads them, and approves or puts them away as the API does."""

    def __init__(self, changer: DraftChanger) -> None:
        self._changer = changer

    async def waiting(self, tx: TenantTx) -> Sequence[AiDraft]:
        """Those that nobody has approved yet, the newest first."""
        return [
            AiDraft(
                version_id=row["version_id"],
                revision=row["revision"],
                key=row["key"],
                channel=row["channel"],
                semver=row["semver"],
                drafted_at=row["drafted_at"],
                provenance=msgspec.json.decode(row["provenance"]),
            )
            for row in await tx.fetch(QUERIES.find_ai_drafts)
        ]

    async def approve(self, tx: TenantTx, draft: AiDraft, *, actor: str) -> None:
        """Approve it; refused to who asked for it or wrote it down."""

        def expect(version: TemplateVersion) -> None:
            if version.version != draft.revision:
                raise StaleVersionError

        await self._changer.approve(tx, _name(draft), expect=expect, actor=actor, reason=_REASON)

    async def put_away(self, tx: TenantTx, draft: AiDraft, *, actor: str) -> None:
        """It is not to be published."""
        await self._changer.archive(tx, _name(draft), actor=actor, reason=_REASON)


def _name(draft: AiDraft) -> VersionName:
    return VersionName(draft.key, convert(draft.channel, Channel), draft.semver)
