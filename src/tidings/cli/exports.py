"""`tidings exports`: ledgers of operators as Parquet files; straight on the database and the blob store."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.command import JsonObject, Output, command_group
from tidings.cli.failures import CommandError
from tidings.cli.system import system_command

if TYPE_CHECKING:
    from tidings.backoffice.exports.store import Export
    from tidings.bootstrap import System
    from tidings.kernel.ids import TenantId

app = command_group()

_PAGE = 200
Ledger = Annotated[
    str | None,
    typer.Option(
        help="operator_activity, alert_ack_log, ai_decision_log or lock_action_proxy_audit; default: all."
    ),
]
Tenant = Annotated[str | None, typer.Option(help="Whose files: a tenant's id, or `platform`; default: all.")]


def _check_ledger(*, ledger: str | None) -> None:
    from tidings.backoffice.exports.ledgers import LEDGERS

    if ledger is not None and ledger not in LEDGERS:
        raise CommandError(f"--ledger must be one of {', '.join(LEDGERS)}")


def _check_filters(*, ledger: str | None, tenant: str | None) -> None:
    _check_ledger(ledger=ledger)
    if tenant is not None and tenant != "platform" and not tenant.startswith("tnt_"):
        raise CommandError("--tenant must be a tenant's id, tnt_…, or platform")


def _line(one: JsonObject) -> str:
    state = f"{one['rows']:>9} rows" if one["verified_at"] else "being written"
    owner = one["tenant_id"] or "platform"
    return f"{one['ledger']:24} {one['month']}  {owner:30} part {one['part']:<5} {state}  {one['id']}"


@system_command(
    app,
    "list",
    text=_line,
    empty="nothing is exported yet; `tidings work` does it each day, `tidings exports run` at once",
    check=_check_filters,
)
async def list_(system: "System", *, ledger: Ledger = None, tenant: Tenant = None) -> list[JsonObject]:
    """List the files of the manifest, the newest first."""
    return [_shown(one) for one in await _exports(system, ledger, tenant)]


@system_command(app, "run")
async def run(system: "System") -> Output:
    """Export every day that has ended and is not exported yet; what was interrupted is finished."""
    before = len(await _exports(system, None, None))
    if not await system.backoffice.ledgers.exports.run_once():
        raise CommandError(
            "not all was exported: another process is at it, or was killed within the last 20 seconds, or the log says what failed; run it again"
        )
    made = len(await _exports(system, None, None)) - before
    return Output({"files": made}, f"{made} files were written" if made else "there was nothing to export")


@system_command(app, "verify", check=_check_filters)
async def verify(system: "System", *, ledger: Ledger = None, tenant: Tenant = None) -> Output:
    """Read every file back: is it as it was written, are its rows as many as the manifest says, is none in it twice; exit with 1 otherwise."""
    import tempfile

    from tidings.backoffice.exports.ledgers import LEDGERS
    from tidings.kernel.blobs.envelope import BlobError, BlobRef
    from tidings.kernel.blobs.keys import BlobKey

    exporter = system.backoffice.ledgers.exporter
    faults: list[JsonObject] = []
    exports = [one for one in await _exports(system, ledger, tenant) if one.verified_at is not None]
    for one in exports:
        ref = BlobRef(key=BlobKey(one.object_key or ""), size=one.bytes or 0, checksum=one.checksum or "")
        with tempfile.TemporaryDirectory(prefix="tidings-export-") as folder:
            try:
                rows = await exporter.read_back(ref, LEDGERS[one.ledger], Path(folder))
                fault = None if rows == one.rows else f"holds {rows} rows instead of {one.rows}"
            except BlobError as error:
                fault = str(error)
        if fault is not None:
            faults.append({"id": one.id, "tenant_id": one.tenant_id, "fault": fault})
    lines = [f"{one['id']}: {one['fault']}" for one in faults]
    total = sum(one.rows or 0 for one in exports)
    return Output(
        {"files": len(exports), "rows": total, "faults": faults},
        [*lines, f"{len(exports)} files with {total} rows, {len(faults)} of them damaged"],
        exit_code=int(bool(faults)),
    )


def _check_fetch(*, folder: Path, ledger: str | None, tenant: str | None) -> None:
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"{folder} is a file; name a folder")
    _check_filters(ledger=ledger, tenant=tenant)


@system_command(app, "fetch", check=_check_fetch)
async def fetch(
    system: "System",
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the files are to be.")],
    *,
    ledger: Ledger = None,
    tenant: Tenant = None,
) -> Output:
    """Write the files as plain Parquet, in folders ledger=…/month=…/ as DuckDB, Spark and BigQuery read them; those that are there stay."""
    from tidings.kernel.blobs.keys import BlobKey

    exporter = system.backoffice.ledgers.exporter
    fetched = 0
    for one in await _exports(system, ledger, tenant):
        if one.object_key is None:
            continue
        place = folder / f"ledger={one.ledger}" / f"month={one.month:%Y-%m}" / f"{one.id}.parquet"
        if place.exists():
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        begun = place.with_suffix(".begun")
        await exporter.fetch(BlobKey(one.object_key), one.checksum, begun)
        begun.replace(place)
        fetched += 1
    return Output({"files": fetched, "folder": str(folder)}, f"{fetched} files are new in {folder}")


async def _exports(system: "System", ledger: str | None, tenant: str | None) -> "list[Export]":
    from tidings.backoffice.exports import store
    from tidings.backoffice.exports.ledgers import LEDGERS

    wanted = None if ledger is None else LEDGERS[ledger].name  # type: ignore[index]  # it was checked
    found: list[Export] = []
    for owner in await _owners(system, tenant):
        async with system.db.scoped(owner) as tx:
            after = None
            while page := await store.list_exports(tx, ledger=wanted, after_id=after, limit=_PAGE):
                found += page
                after = page[-1].id
    return found


async def _owners(system: "System", tenant: str | None) -> "list[TenantId | None]":
    from tidings.backoffice.exports import store
    from tidings.kernel.ids import TENANT

    if tenant is not None:
        return [None if tenant == "platform" else TENANT.parse(tenant, field="--tenant")]
    async with system.db.worker() as tx:
        return await store.owners_of_exports(tx)


def _shown(one: "Export") -> JsonObject:
    from dataclasses import asdict

    return {
        name: value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
        for name, value in {**asdict(one), "month": f"{one.month:%Y-%m}"}.items()
    }
