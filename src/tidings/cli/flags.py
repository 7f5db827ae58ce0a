"""`tidings flags`: see and switch feature flags."""

from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.options import Actor, DatabaseUrl, DataDir, Json
from tidings.cli.printing import shown
from tidings.cli.system import operator, run_with_system, tenant_or_platform

if TYPE_CHECKING:
    from tidings.bootstrap import System
    from tidings.kernel.flags.flags import Switch

app = typer.Typer(help="See and switch feature flags.", no_args_is_help=True, rich_markup_mode=None)

KeyArgument = Annotated[str, typer.Argument(help="The flag, as `tidings flags list` calls it.")]
TenantOption = Annotated[
    str | None, typer.Option("--tenant", help="Only for this tenant, by its id or slug; default: for all.")
]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why; it is audited.")]


@app.command("list")
def list_flags(
    *,
    as_json: Json = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Every declared flag, and who has set it."""

    async def work(system: "System") -> "list[Switch]":
        return await system.kernel.flags.switches()

    _show(run_with_system(work, data_dir, database_url), as_json=as_json)


@app.command("set")
def set_flag(
    key: KeyArgument,
    value: Annotated[str, typer.Argument(help="on, off, or a share of the tenants such as 25%.")],
    *,
    reason: ReasonOption,
    tenant: TenantOption = None,
    actor: Actor = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Switch a flag for everybody, for a share of the tenants, or for one."""
    enabled, percentage = _parse_value(value)

    async def work(system: "System") -> str:
        tenant_id = await tenant_or_platform(system, tenant)
        await system.kernel.flags.set(
            key,
            enabled=enabled,
            percentage=percentage,
            tenant_id=tenant_id,
            actor=actor or operator(),
            reason=reason,
        )
        return f"{key} is {value} for {tenant_id or 'everybody'}"

    print(run_with_system(work, data_dir, database_url))


@app.command("unset")
def unset_flag(
    key: KeyArgument,
    *,
    reason: ReasonOption,
    tenant: TenantOption = None,
    actor: Actor = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Take a switch away; what stands behind it holds again."""

    async def work(system: "System") -> str:
        tenant_id = await tenant_or_platform(system, tenant)
        was_set = await system.kernel.flags.unset(
            key, tenant_id=tenant_id, actor=actor or operator(), reason=reason
        )
        return f"{key} is {'no longer' if was_set else 'not'} set for {tenant_id or 'everybody'}"

    print(run_with_system(work, data_dir, database_url))


def _parse_value(value: str) -> tuple[bool, int | None]:
    from tidings.cli.failures import CommandError

    if value in ("on", "off"):
        return value == "on", None
    share = value.removesuffix("%")
    if not (value.endswith("%") and share.isdecimal() and int(share) <= 100):
        raise CommandError(f"the value must be on, off or a percentage such as 25%, not {value!r}")
    return True, int(share)


def _show(switches: "list[Switch]", *, as_json: bool) -> None:
    import json

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from tidings.kernel.flags.registry import FLAGS

    if as_json:
        declared = [
            {"key": f.key, "default": f.default, "description": f.description} for f in FLAGS.values()
        ]
        switched = [
            {
                "key": s.key,
                "tenant_id": s.tenant_id,
                "enabled": s.enabled,
                "percentage": s.percentage,
                "reason": s.reason,
                "updated_by": s.updated_by,
                "updated_at": s.updated_at.isoformat(),
            }
            for s in switches
        ]
        print(json.dumps({"flags": declared, "switches": switched}, indent=2))
        return
    if not FLAGS and not switches:
        print("no flag is declared")
        return
    table = Table("flag", "for", "value", "by", "why", box=None, header_style="bold")
    for flag in FLAGS.values():
        table.add_row(flag.key, "default", "on" if flag.default else "off", "", flag.description)
    for switch in switches:
        value = (
            "off" if not switch.enabled else "on" if switch.percentage is None else f"{switch.percentage}%"
        )
        known = "" if switch.key in FLAGS else " (no longer declared)"
        words = (switch.key + known, switch.tenant_id or "everybody", value, switch.updated_by, switch.reason)
        table.add_row(*(Text(shown(word)) for word in words))
    Console().print(table)
