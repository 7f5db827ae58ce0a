"""The use cases "this code means that": lines are written, changed, taken back and removed; all of it is audited."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.mapping import by_name
from tidings.router.adapters.registry import ADAPTERS, kind_of
from tidings.router.status_map import store
from tidings.router.status_map.errors import (
    FullMapError,
    SeededLineError,
    UnknownLineError,
    UnknownLineVersionError,
)
from tidings.router.status_map.model import MOST_HISTORY, MOST_LINES, Mapped, StatusLine, StatusLineVersion

#: Refuses a line that is not what the caller has read; None: there is none.
Expect = Callable[[StatusLine | None], None]


class StatusMapper:
    """Changes lines of the owner of the transaction: a tenant its own, the platform those for all tenants."""

    def __init__(self, *, audit: AuditLog, clock: Clock) -> None:
        """`audit` is of schema `chan`."""
        self._audit = audit
        self._clock = clock

    async def put(
        self,
        tx: TenantTx | PlatformTx,
        adapter: str,
        code: str,
        *,
        canonical: Mapped,
        reason: str,
        expect: Expect,
        actor: str,
    ) -> StatusLine:
        """From now on the code means that; where it did already nothing is written."""
        if kind_of(adapter) is None:
            raise BadValueError(
                "adapter", f"must be one of {', '.join(sorted(ADAPTERS))}, or begin with one of these and _"
            )
        before = await store.lock_line(tx, adapter=adapter, code=code)
        if before is None:
            expect(None)
            made = StatusLine(
                platform=isinstance(tx, PlatformTx),
                adapter=adapter,
                code=code,
                canonical=canonical,
                reason=reason,
                version=1,
                updated_by=actor,
                updated_at=self._clock.now(),
            )
            if await self._written(tx, made):
                return made
            before = await store.lock_line(tx, adapter=adapter, code=code)
            if before is None:
                raise UnknownLineError
        expect(before)
        return await self._changed(tx, before, canonical, reason, action="updated", actor=actor)

    async def revert(
        self, tx: TenantTx | PlatformTx, adapter: str, code: str, version: int, *, expect: Expect, actor: str
    ) -> StatusLine:
        """It means again what it meant in that version; that is a new version."""
        before = await self._known(tx, adapter, code)
        expect(before)
        then = next((one for one in before.history if one.version == version), None)
        if then is None:
            kept = ", ".join(str(one.version) for one in before.history) or "none"
            raise UnknownLineVersionError(f"the line has no earlier version {version}; there is {kept}")
        return await self._changed(
            tx, before, then.canonical, then.reason, action="reverted", actor=actor, note=f"to {version}"
        )

    async def remove(
        self, tx: TenantTx | PlatformTx, adapter: str, code: str, *, expect: Expect, actor: str
    ) -> None:
        """The line is gone: for a tenant the platform's counts again, if there is one."""
        before = await self._known(tx, adapter, code)
        expect(before)
        kind = ADAPTERS.get(adapter)
        if isinstance(tx, PlatformTx) and kind and any(seed.code == code for seed in kind.statuses):
            raise SeededLineError
        await store.delete_line(tx, before)
        await self._audit.append(tx, [_entry("deleted", before, None, actor=actor)])

    async def _written(self, tx: TenantTx | PlatformTx, made: StatusLine) -> bool:
        if await store.count_lines(tx) >= MOST_LINES:
            raise FullMapError
        if not await store.insert_line(tx, made):
            return False
        await self._audit.append(tx, [_entry("created", None, made, actor=made.updated_by)])
        return True

    async def _changed(
        self,
        tx: TenantTx | PlatformTx,
        before: StatusLine,
        canonical: Mapped,
        reason: str,
        *,
        action: str,
        actor: str,
        note: str | None = None,
    ) -> StatusLine:
        if (before.canonical, before.reason) == (canonical, reason):
            return before
        now = self._clock.now()
        was = by_name(StatusLineVersion, before, until=now, by=before.updated_by)
        after = replace(
            before,
            canonical=canonical,
            reason=reason,
            version=before.version + 1,
            updated_by=actor,
            updated_at=now,
            history=(*before.history, was)[-MOST_HISTORY:],
        )
        await store.update_line(tx, after)
        await self._audit.append(tx, [_entry(action, before, after, actor=actor, note=note)])
        return after

    async def _known(self, tx: TenantTx | PlatformTx, adapter: str, code: str) -> StatusLine:
        found = await store.lock_line(tx, adapter=adapter, code=code)
        if found is None:
            whose = "of the platform" if isinstance(tx, PlatformTx) else "of your own"
            raise UnknownLineError(f"there is no line {whose} for {code} of {adapter}")
        return found


def _entry(
    action: str, before: StatusLine | None, after: StatusLine | None, *, actor: str, note: str | None = None
) -> Entry:
    about = after or before
    return Entry(
        entity_type="status_map",
        entity_id=f"{about.adapter}/{about.code}" if about else "",
        action=action,
        actor=actor,
        before=_told(before),
        after=_told(after),
        reason=note,
    )


def _told(line: StatusLine | None) -> dict[str, Any] | None:
    if line is None:
        return None
    return {"canonical": line.canonical, "reason": line.reason, "version": line.version}
