"""The use cases "we do not use this template any more" and "we do again": the whole of it, with all its versions."""

from typing import Literal

from tidings.contracts.tenants import Channel
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.notify.templates import store
from tidings.notify.templates.errors import UnknownTemplateError
from tidings.notify.templates.model import Template


class TemplateArchiver:
    """Archives templates and restores them."""

    def __init__(self, audit: AuditLog, clock: Clock) -> None:
        self._audit = audit
        self._clock = clock

    async def archive(
        self, tx: store.Side, *, key: str, channel: Channel, actor: str, reason: str | None
    ) -> Template:
        """The template after it. Of an archived one of a tenant's the platform's counts again."""
        archived = await self._set(tx, "archived", key=key, channel=channel, actor=actor, reason=reason)
        if archived is None:
            raise UnknownTemplateError(f"there is no template {key} for {channel} of your own")
        return archived

    async def restore(
        self, tx: store.Side, *, key: str, channel: Channel, actor: str, reason: str | None
    ) -> Template:
        """The template after it; restoring what is not archived changes nothing."""
        restored = await self._set(tx, "active", key=key, channel=channel, actor=actor, reason=reason)
        restored = restored or await store.find_template(tx, key=key, channel=channel)
        if restored is None:
            raise UnknownTemplateError(f"there is no template {key} for {channel} that is archived")
        return restored

    async def _set(
        self,
        tx: store.Side,
        status: Literal["active", "archived"],
        *,
        key: str,
        channel: Channel,
        actor: str,
        reason: str | None,
    ) -> Template | None:
        now = self._clock.now()
        changed = await store.set_template_status(tx, key=key, channel=channel, status=status, now=now)
        if changed is None:
            return None
        await store.announce_change(tx)
        entry = Entry(
            entity_type="template",
            entity_id=changed.id,
            action="template.archived" if status == "archived" else "template.restored",
            actor=actor,
            after={"key": key, "channel": channel, "status": status},
            reason=reason,
        )
        await self._audit.append(tx, [entry])
        return changed
