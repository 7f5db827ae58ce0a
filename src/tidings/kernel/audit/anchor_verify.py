"""Checks the anchors of a log: their numbers, their signatures, their lines, and that none is gone."""

from collections.abc import AsyncIterator
from dataclasses import KW_ONLY, dataclass, field

from tidings.kernel.audit.anchor_record import Anchor, AnchorLine, AnchorSigner, Root
from tidings.kernel.audit.chain import ChainFinding
from tidings.kernel.audit.record import AuditRow, AuditSchema
from tidings.kernel.db import Database
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)


@dataclass(slots=True, eq=False, repr=False)
class AnchorCheck:
    """Reads the anchors of one log; without a signer, signatures are not looked at."""

    db: Database
    schema: AuditSchema
    signer: AnchorSigner | None
    _: KW_ONLY
    page_size: int = 1000
    #: The digest of every anchor by its id; a few per month and log.
    digests: dict[str, str] = field(default_factory=dict, init=False)

    async def findings(self) -> AsyncIterator[ChainFinding]:
        """What is wrong with the anchors."""
        previous: Anchor | None = None
        async for anchor, digest in self._all():
            self.digests[anchor.id] = digest
            for detail in [
                *_misfits(anchor, digest, previous),
                *await self._bad_lines(anchor),
                *await self._bad_signature(anchor),
            ]:
                yield self._finding(anchor, detail)
            previous = anchor

    async def knows(self, row: AuditRow) -> bool:
        """Whether the anchor that a row of the anchors' own stream tells of is there, and is the same."""
        if row.entity_id not in self.digests:
            async with self.db.platform() as tx:
                found = await tx.fetch_one(_QUERIES.find_anchor, log=self.schema, id=row.entity_id)
            if found is None:
                return False
            self.digests[row.entity_id] = found["digest"]
        return self.digests[row.entity_id] in (row.after or "")

    async def last(self) -> Anchor | None:
        """The newest anchor."""
        last: Anchor | None = None
        async for anchor, _ in self._all():
            last = anchor
        return last

    async def _all(self) -> AsyncIterator[tuple[Anchor, str]]:
        after = 0
        while True:
            async with self.db.platform() as tx:
                rows = await tx.fetch(
                    _QUERIES.read_anchors, log=self.schema, after=after, limit=self.page_size
                )
            for row in rows:
                yield Anchor.from_row(row), row["digest"]
            if len(rows) < self.page_size:
                return
            after = rows[-1]["number"]

    async def _bad_lines(self, anchor: Anchor) -> list[str]:
        root = Root()
        async for line in self._lines(anchor.number):
            root.add(line)
        if root.value == anchor.root and root.count == anchor.stream_count:
            return []
        return [f"its {root.count} lines are not the {anchor.stream_count} that were signed"]

    async def _bad_signature(self, anchor: Anchor) -> list[str]:
        if self.signer is None:
            return []
        if not await self.signer.verify(anchor.signed_bytes(), anchor.signature):
            return ["its signature is not ours"]
        if self.signer.key_id_of(anchor.signature) != anchor.key_id:
            return ["it names another key than its signature"]
        return []

    async def _lines(self, number: int) -> AsyncIterator[AnchorLine]:
        tenant_id = entity_type = ""
        while True:
            async with self.db.platform() as tx:
                rows = await tx.fetch(
                    _QUERIES.read_tenant_lines,
                    log=self.schema,
                    number=number,
                    tenant_id=tenant_id,
                    entity_type=entity_type,
                    limit=self.page_size,
                )
            for row in rows:
                yield AnchorLine(**dict(row))
            if len(rows) < self.page_size:
                break
            tenant_id, entity_type = rows[-1]["tenant_id"], rows[-1]["entity_type"]
        async with self.db.platform() as tx:
            rows = await tx.fetch(_QUERIES.read_platform_lines, log=self.schema, number=number)
        for row in rows:
            yield AnchorLine(**dict(row))

    def _finding(self, anchor: Anchor, detail: str) -> ChainFinding:
        return ChainFinding(log=self.schema, fault="anchor", seq=anchor.number, id=anchor.id, detail=detail)


def _misfits(anchor: Anchor, digest: str, previous: Anchor | None) -> list[str]:
    found = []
    if anchor.digest != digest:
        found.append("its digest does not fit what it says")
    expected = previous.number + 1 if previous else 1
    if anchor.number != expected:
        found.append(f"anchors {expected} to {anchor.number - 1} are missing before it")
    elif anchor.prev_digest != (previous.digest if previous else None):
        found.append("it does not follow from the anchor before it")
    return found
