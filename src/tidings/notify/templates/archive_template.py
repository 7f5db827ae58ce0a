"""The use cases "we do not use this template any more" and "we do again": the whole of it, with all its versions."""

from typing import Literal

from tidings.contracts.tenants import Channel
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.notify.templates import store
from tidings.notify.templates.errors import UnknownTemplateError
from tidings.notify.templates.model import Template


async def set_status(
    tx: store.Side,
    status: Literal["active", "archived"],
    *,
    key: str,
    channel: Channel,
    actor: str,
    reason: str | None,
    audit: AuditLog,
    clock: Clock,
) -> Template:
    """The template after it; restoring what is not archived changes nothing.

    Of an archived one of a tenant's the platform's counts again. What was accepted before is still sent with it.
    """
    changed = await store.set_template_status(tx, key=key, channel=channel, status=status, now=clock.now())
    if changed is None:
        there = await store.find_template(tx, key=key, channel=channel) if status == "active" else None
        if there is None:
            what = "that is archived" if status == "active" else "of your own"
            raise UnknownTemplateError(f"there is no template {key} for {channel} {what}")
        return there
    await store.announce_change(tx)
    action = "template.archived" if status == "archived" else "template.restored"
    entry = Entry(
        entity_type="template",
        entity_id=changed.id,
        action=action,
        actor=actor,
        after={"key": key, "channel": channel, "status": status},
        reason=reason,
    )
    await audit.append(tx, [entry])
    return changed
