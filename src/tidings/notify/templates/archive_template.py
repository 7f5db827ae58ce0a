"""The use cases "we do not use this template any more" and "we do again": the whole of it, with all its versions."""

from typing import Literal

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.notify.templates import store
from tidings.notify.templates.errors import UnknownTemplateError
from tidings.notify.templates.model import Template, TemplateName


class TemplateArchiver:
    """Archives templates and restores them."""

    def __init__(self, audit: AuditLog, clock: Clock) -> None:
        self._audit = audit
        self._clock = clock

    async def archive(
        self, tx: store.Side, name: TemplateName, *, actor: str, reason: str | None
    ) -> Template:
        """The template after it. Of an archived one of a tenant's the platform's counts again."""
        archived = await self._set(tx, name, "archived", actor, reason)
        if archived is None:
            raise UnknownTemplateError(f"there is no template {name} of your own")
        return archived

    async def restore(
        self, tx: store.Side, name: TemplateName, *, actor: str, reason: str | None
    ) -> Template:
        """The template after it; restoring what is not archived changes nothing."""
        restored = await self._set(tx, name, "active", actor, reason)
        restored = restored or await store.find_template(tx, name)
        if restored is None:
            raise UnknownTemplateError(f"there is no template {name} that is archived")
        return restored

    async def _set(
        self,
        tx: store.Side,
        name: TemplateName,
        status: Literal["active", "archived"],
        actor: str,
        reason: str | None,
    ) -> Template | None:
        now = self._clock.now()
        changed = await store.set_template_status(tx, name, status=status, now=now)
        if changed is None:
            return None
        entry = Entry(
            entity_type="template",
            entity_id=changed.id,
            action="template.archived" if status == "archived" else "template.restored",
            actor=actor,
            after={"key": name.key, "channel": name.channel, "status": status},
            reason=reason,
        )
        await self._audit.append(tx, [entry])
        return changed
