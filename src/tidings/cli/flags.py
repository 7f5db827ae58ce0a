"""`tidings flags`: see and switch feature flags."""

import asyncio
import getpass
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tidings.kernel.flags.flags import Flags
    from tidings.kernel.ids import TenantId

    Work = Callable[[Flags, TenantId | None], Awaitable[str]]

app = typer.Typer(help="See and switch feature flags.", no_args_is_help=True, rich_markup_mode=None)

KeyArgument = Annotated[str, typer.Argument(help="The flag, as `tidings flags list` calls it.")]
TenantOption = Annotated[str | None, typer.Option("--tenant", help="Only for this tenant; default: for all.")]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why; it is audited.")]
ActorOption = Annotated[str | None, typer.Option("--actor", help="Who; default: your login name.")]
DataDirOption = Annotated[
    Path | None,
    typer.Option("--data-dir", envvar="TIDINGS_DATA_DIR", help="Folder of the embedded database."),
]
UrlOption = Annotated[
    str | None,
    typer.Option(
        "--database-url",
        envvar="TIDINGS_DATABASE_URL",
        show_envvar=True,
        help="An outside database, as the runtime role.",
    ),
]


@app.command("list")
def list_flags(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    data_dir: DataDirOption = None,
    database_url: UrlOption = None,
) -> None:
    """Every declared flag, and who has set it."""
    asyncio.run(_list(as_json, data_dir, database_url))


@app.command("set")
def set_flag(
    key: KeyArgument,
    value: Annotated[str, typer.Argument(help="on, off, or a share of the tenants such as 25%.")],
    *,
    reason: ReasonOption,
    tenant: TenantOption = None,
    actor: ActorOption = None,
    data_dir: DataDirOption = None,
    database_url: UrlOption = None,
) -> None:
    """Switch a flag for everybody, for a share of the tenants, or for one."""
    enabled, percentage = _parse_value(value)

    async def work(flags: "Flags", tenant_id: "TenantId | None") -> str:
        await flags.set(
            key,
            enabled=enabled,
            percentage=percentage,
            tenant_id=tenant_id,
            actor=_actor(actor),
            reason=reason,
        )
        return f"{key} is {value} for {tenant_id or 'everybody'}"

    asyncio.run(_change(work, tenant, data_dir, database_url))


@app.command("unset")
def unset_flag(
    key: KeyArgument,
    *,
    reason: ReasonOption,
    tenant: TenantOption = None,
    actor: ActorOption = None,
    data_dir: DataDirOption = None,
    database_url: UrlOption = None,
) -> None:
    """Take a switch away; what stands behind it holds again."""

    async def work(flags: "Flags", tenant_id: "TenantId | None") -> str:
        was_set = await flags.unset(key, tenant_id=tenant_id, actor=_actor(actor), reason=reason)
        return f"{key} is {'no longer' if was_set else 'not'} set for {tenant_id or 'everybody'}"

    asyncio.run(_change(work, tenant, data_dir, database_url))


def _parse_value(value: str) -> tuple[bool, int | None]:
    from tidings.cli.failures import CommandError

    if value in ("on", "off"):
        return value == "on", None
    share = value.removesuffix("%")
    if not (value.endswith("%") and share.isdecimal() and int(share) <= 100):
        raise CommandError(f"the value must be on, off or a percentage such as 25%, not {value!r}")
    return True, int(share)


def _actor(given: str | None) -> str:
    return given or f"cli:{getpass.getuser()}"


@asynccontextmanager
async def _flags(data_dir: Path | None, url: str | None) -> "AsyncIterator[Flags]":
    from tidings.cli.connection import runtime_url
    from tidings.kernel.audit.log import AuditLog
    from tidings.kernel.clock import SystemClock
    from tidings.kernel.db import Database
    from tidings.kernel.flags.flags import Flags

    clock = SystemClock()
    async with runtime_url(data_dir, url) as found:
        db = Database(found)
        await db.open()
        try:
            yield Flags(db, AuditLog("notification", clock), clock)
        finally:
            await db.close()


async def _change(work: "Work", tenant: str | None, data_dir: Path | None, url: str | None) -> None:
    from tidings.kernel.ids import TENANT

    tenant_id = TENANT.parse(tenant, field="--tenant") if tenant else None
    async with _flags(data_dir, url) as flags:
        print(await work(flags, tenant_id))


async def _list(as_json: bool, data_dir: Path | None, url: str | None) -> None:
    import json

    from rich.console import Console
    from rich.table import Table

    from tidings.kernel.flags.registry import FLAGS

    async with _flags(data_dir, url) as flags:
        switches = await flags.switches()
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
        table.add_row(
            switch.key + known, switch.tenant_id or "everybody", value, switch.updated_by, switch.reason
        )
    Console().print(table)
