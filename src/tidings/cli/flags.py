"""`tidings flags`: see and switch feature flags."""

from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.command import Output, command_group
from tidings.cli.failures import CommandError
from tidings.cli.options import Actor
from tidings.cli.printing import picked, table
from tidings.cli.system import operator, system_command, tenant_or_platform

if TYPE_CHECKING:
    from tidings.bootstrap import System
    from tidings.kernel.flags.flags import Switch

app = command_group()

Key = Annotated[str, typer.Argument(help="The flag, as `tidings flags list` calls it.")]
Tenant = Annotated[
    str | None, typer.Option(help="Only for this tenant, by its id or slug; default: for all.")
]
Reason = Annotated[str, typer.Option(help="Why; it is audited.")]


@system_command(app, "list")
async def list_flags(system: "System") -> Output:
    """Every declared flag, and who has set it."""
    from tidings.kernel.flags.registry import FLAGS

    switches = await system.kernel.flags.switches()
    switched = ("key", "tenant_id", "enabled", "percentage", "reason", "updated_by", "updated_at")
    answer = {
        "flags": [picked(flag, "key", "default", "description") for flag in FLAGS.values()],
        "switches": [picked(switch, *switched) for switch in switches],
    }
    return Output(answer, _lines(switches))


def _check_value(*, value: str, **_: object) -> None:
    _parse_value(value)


@system_command(app, "set", check=_check_value)
async def set_flag(
    system: "System",
    key: Key,
    value: Annotated[str, typer.Argument(help="on, off, or a share of the tenants such as 25%.")],
    *,
    reason: Reason,
    tenant: Tenant = None,
    actor: Actor = None,
) -> Output:
    """Switch a flag for all tenants, for a share of them, or for one."""
    enabled, percentage = _parse_value(value)
    tenant_id = await tenant_or_platform(system, tenant)
    await system.kernel.flags.set(
        key,
        enabled=enabled,
        percentage=percentage,
        tenant_id=tenant_id,
        actor=actor or operator(),
        reason=reason,
    )
    return Output({"key": key, "value": value}, f"{key} is {value} for {tenant_id or 'all tenants'}")


@system_command(app, "unset")
async def unset_flag(
    system: "System", key: Key, *, reason: Reason, tenant: Tenant = None, actor: Actor = None
) -> Output:
    """Take a switch away; what stands behind it holds again."""
    tenant_id = await tenant_or_platform(system, tenant)
    was_set = await system.kernel.flags.unset(
        key, tenant_id=tenant_id, actor=actor or operator(), reason=reason
    )
    said = f"{key} is {'no longer' if was_set else 'not'} set for {tenant_id or 'all tenants'}"
    return Output({"key": key, "was_set": was_set}, said)


def _parse_value(value: str) -> tuple[bool, int | None]:
    if value in ("on", "off"):
        return value == "on", None
    share = value.removesuffix("%")
    if not (value.endswith("%") and share.isdecimal() and int(share) <= 100):
        raise CommandError(f"the value must be on, off or a percentage such as 25%, not {value!r}")
    return True, int(share)


def _lines(switches: "list[Switch]") -> "list[str]":
    from tidings.kernel.flags.registry import FLAGS

    rows = [
        (flag.key, "default", "on" if flag.default else "off", "", flag.description)
        for flag in FLAGS.values()
    ]
    for switch in switches:
        share = "on" if switch.percentage is None else f"{switch.percentage}%"
        known = "" if switch.key in FLAGS else " (no longer declared)"
        value = share if switch.enabled else "off"
        tenant = switch.tenant_id or "all tenants"
        rows.append((switch.key + known, tenant, value, switch.updated_by, switch.reason))
    return list(table(("flag", "for", "value", "by", "why"), rows)) if rows else ["no flag is declared"]
