"""`tidings audit`: is it as it was written, sign how far it has come, see what happens."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.options import DatabaseUrl, DataDir, Json
from tidings.cli.printing import shown
from tidings.cli.system import open_database

if TYPE_CHECKING:
    from tidings.kernel.audit.chain import ChainFinding
    from tidings.kernel.audit.record import AuditRow, AuditSchema
    from tidings.kernel.audit.verify import AuditVerifier

app = typer.Typer(help="Verify, anchor and read the audit.", no_args_is_help=True, rich_markup_mode=None)

LogOption = Annotated[
    str | None, typer.Option("--log", help="notification (notify) or chan (router); default: both.")
]


@app.command("verify")
def verify(
    *,
    log: LogOption = None,
    as_json: Json = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Find every row, head or anchor that is not as it was written; exit with 1 when there is one."""
    raise SystemExit(asyncio.run(_verify(_logs(log), as_json, data_dir, database_url)))


@app.command("anchor")
def anchor(
    *,
    log: LogOption = None,
    as_json: Json = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Close finished months and sign how far every stream has come. New rows that do not fit are not signed over."""
    asyncio.run(_anchor(_logs(log), as_json, data_dir, database_url))


@app.command("tail")
def tail(
    *,
    tenant: Annotated[str | None, typer.Option(help="Whose rows; default: the platform's own.")] = None,
    log: Annotated[
        str, typer.Option("--log", help="notification (notify) or chan (router).")
    ] = "notification",
    lines: Annotated[
        int, typer.Option("-n", "--lines", help="How many to begin with.", min=1, max=1000)
    ] = 20,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on until Ctrl-C.")] = False,
    as_json: Json = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Show the newest rows, the oldest of them first."""
    (schema,) = _logs(log)
    asyncio.run(
        _tail(
            schema=schema,
            tenant=tenant,
            lines=lines,
            follow=follow,
            as_json=as_json,
            data_dir=data_dir,
            url=database_url,
        )
    )


def _logs(name: str | None) -> "tuple[AuditSchema, ...]":
    from tidings.cli.failures import CommandError
    from tidings.kernel.audit.record import AUDIT_SCHEMAS

    chosen = tuple(schema for schema in AUDIT_SCHEMAS if name in (None, schema))
    if not chosen:
        raise CommandError(f"--log must be one of {', '.join(AUDIT_SCHEMAS)}, not {name!r}")
    return chosen


async def _verify(
    logs: "tuple[AuditSchema, ...]", as_json: bool, data_dir: Path | None, url: str | None
) -> int:
    import json
    from dataclasses import asdict

    from rich.console import Console

    from tidings.kernel.audit.verify import AuditVerifier

    console = Console(stderr=True)
    faults = 0
    async with open_database(data_dir, url) as (db, kms):
        for log in logs:
            verifier = AuditVerifier(db, log, kms)
            with console.status(f"{log}: reading") as status:
                watching = asyncio.create_task(_watch(verifier, log, status.update))
                try:
                    async for finding in verifier.findings():
                        faults += 1
                        print(json.dumps(asdict(finding)) if as_json else _line(finding))
                finally:
                    watching.cancel()
            if not as_json:
                print(f"{log}: {_summary(verifier)}")
    if not as_json:
        print("the audit is as it was written" if not faults else f"{faults} faults")
    return 1 if faults else 0


async def _watch(verifier: "AuditVerifier", log: str, show: Callable[[str], None]) -> None:
    while True:
        show(f"{log}: {_summary(verifier)}")
        await asyncio.sleep(0.2)


def _summary(verifier: "AuditVerifier") -> str:
    seen = verifier.progress
    text = f"{seen.rows} rows in {seen.streams} streams of {seen.tenants} tenants, {seen.anchors} anchors"
    if seen.archived_rows:
        text += f"; {seen.archived_rows} rows archived under {', '.join(sorted(seen.archived_under))}"
    return text


def _line(finding: "ChainFinding") -> str:
    where = " ".join(
        part for part in (finding.log, finding.tenant_id or "platform", finding.entity_type) if part
    )
    number = f"#{finding.seq}" if finding.seq is not None else ""
    return f"{finding.fault.upper():10} {where} {number} {finding.id or '-'}: {finding.detail}"


async def _anchor(
    logs: "tuple[AuditSchema, ...]", as_json: bool, data_dir: Path | None, url: str | None
) -> None:
    import json

    from tidings.kernel.audit.anchor import AnchorKeeper
    from tidings.kernel.audit.log import AuditLog
    from tidings.kernel.clock import SystemClock

    clock = SystemClock()
    async with open_database(data_dir, url) as (db, kms):
        for log in logs:
            made = await AnchorKeeper(db, AuditLog(log, clock), kms, clock).take()
            if as_json:
                known = (
                    None if made is None else {"id": made.id, "number": made.number, "digest": made.digest}
                )
                print(json.dumps({"log": log, "anchor": known}))
            elif made is None:
                print(f"{log}: there is nothing to sign")
            else:
                print(f"{log}: {made.id} covers everything before {made.covers_until.isoformat()}")
                print(f"  digest {made.digest}; keep it elsewhere to prove that no anchor was taken away")


async def _tail(
    *,
    schema: "AuditSchema",
    tenant: str | None,
    lines: int,
    follow: bool,
    as_json: bool,
    data_dir: Path | None,
    url: str | None,
) -> None:
    from tidings.kernel.audit.log import AuditLog
    from tidings.kernel.clock import SystemClock
    from tidings.kernel.ids import TENANT

    tenant_id = TENANT.parse(tenant, field="--tenant") if tenant else None
    log = AuditLog(schema, SystemClock())
    seen: set[str] = set()
    async with open_database(data_dir, url) as (db, _):
        while True:
            async with db.platform() if tenant_id is None else db.tenant(tenant_id) as tx:
                rows = await log.read_recent(tx, limit=lines if not seen else 1000)
            for row in reversed([row for row in rows if row.id not in seen]):
                print(_shown(row, as_json), flush=True)
            if not follow:
                return
            seen = {row.id for row in rows}
            await asyncio.sleep(1)


def _shown(row: "AuditRow", as_json: bool) -> str:
    import json
    from dataclasses import asdict

    if as_json:
        return json.dumps(asdict(row), default=str, ensure_ascii=False)
    change = f" {row.before or ''} → {row.after or ''}" if row.before or row.after else ""
    why = f" ({row.reason})" if row.reason else ""
    return shown(
        f"{row.occurred_at.isoformat()} {row.actor} {row.action} {row.entity_type} {row.entity_id}{change}{why}"
    )
