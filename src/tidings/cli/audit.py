"""`tidings audit`: is it as it was written, sign how far it has come, see what happens."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.command import Output, command_group
from tidings.cli.failures import CommandError
from tidings.cli.printing import picked, shown
from tidings.cli.system import DatabaseWithKeys, open_database, system_command

if TYPE_CHECKING:
    from tidings.kernel.audit.chain import ChainFinding
    from tidings.kernel.audit.record import AuditRow, AuditSchema
    from tidings.kernel.audit.verify import AuditVerifier

app = command_group()

LogOption = Annotated[str | None, typer.Option(help="notification (notify) or chan (router); default: both.")]


@system_command(app, "verify", opened=open_database)
async def verify(connected: DatabaseWithKeys, *, log: LogOption = None, as_json: bool) -> Output:
    """Find every row, head or anchor that is not as it was written; exit with 1 when there is one."""
    import json
    from dataclasses import asdict

    from rich.console import Console

    from tidings.kernel.audit.verify import AuditVerifier

    console = Console(stderr=True)
    faults = 0
    for schema in _logs(log):
        verifier = AuditVerifier(connected.db, schema, connected.kms)
        with console.status(f"{schema}: reading") as status:
            watching = asyncio.create_task(_watch(verifier, schema, status.update))
            try:
                async for finding in verifier.findings():
                    faults += 1
                    print(json.dumps(asdict(finding)) if as_json else _line(finding))
            finally:
                watching.cancel()
        if not as_json:
            print(f"{schema}: {_summary(verifier)}")
    if not as_json:
        print("the audit is as it was written" if not faults else f"{faults} faults")
    return Output(None, (), exit_code=int(bool(faults)))


@system_command(app, "anchor", opened=open_database)
async def anchor(connected: DatabaseWithKeys, *, log: LogOption = None, as_json: bool) -> None:
    """Close finished months and sign how far every stream has come. New rows that do not fit are not signed over."""
    import json

    from tidings.kernel.audit.anchor import AnchorKeeper
    from tidings.kernel.audit.log import AuditLog
    from tidings.kernel.clock import SystemClock

    clock = SystemClock()
    for schema in _logs(log):
        made = await AnchorKeeper(connected.db, AuditLog(schema, clock), connected.kms, clock).take()
        if as_json:
            known = None if made is None else picked(made, "id", "number", "digest")
            print(json.dumps({"log": schema, "anchor": known}))
        elif made is None:
            print(f"{schema}: there is nothing to sign")
        else:
            print(f"{schema}: {made.id} covers everything before {made.covers_until.isoformat()}")
            print(f"  digest {made.digest}; keep it elsewhere to prove that no anchor was taken away")


@system_command(app, "tail", opened=open_database)
async def tail(
    connected: DatabaseWithKeys,
    *,
    tenant: Annotated[str | None, typer.Option(help="Whose rows; default: the platform's own.")] = None,
    log: Annotated[str, typer.Option(help="notification (notify) or chan (router).")] = "notification",
    lines: Annotated[
        int, typer.Option("-n", "--lines", help="How many to begin with.", min=1, max=1000)
    ] = 20,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on until Ctrl-C.")] = False,
    as_json: bool,
) -> None:
    """Show the newest rows, the oldest of them first."""
    from tidings.kernel.audit.log import AuditLog
    from tidings.kernel.clock import SystemClock
    from tidings.kernel.ids import TENANT

    (schema,) = _logs(log)
    db, tenant_id = connected.db, TENANT.parse(tenant, field="--tenant") if tenant else None
    written = AuditLog(schema, SystemClock())
    seen: set[str] = set()
    while True:
        async with db.scoped(tenant_id) as tx:
            rows = await written.read_recent(tx, limit=lines if not seen else 1000)
        for row in reversed([row for row in rows if row.id not in seen]):
            print(_shown(row, as_json), flush=True)
        if not follow:
            return
        seen = {row.id for row in rows}
        await asyncio.sleep(1)


def _logs(name: str | None) -> "tuple[AuditSchema, ...]":
    from tidings.kernel.audit.record import AUDIT_SCHEMAS

    chosen = tuple(schema for schema in AUDIT_SCHEMAS if name in (None, schema))
    if not chosen:
        raise CommandError(f"--log must be one of {', '.join(AUDIT_SCHEMAS)}, not {name!r}")
    return chosen


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
