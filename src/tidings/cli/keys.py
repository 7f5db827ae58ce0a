"""`tidings keys`: see which keys are in use, and rotate them. Nothing has to be stopped for it."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.options import DatabaseUrl, DataDir, Json
from tidings.cli.system import open_database

if TYPE_CHECKING:
    from tidings.kernel.db import Database
    from tidings.kernel.keys.kms import Kms
    from tidings.kernel.keys.rotation import OnProgress

app = typer.Typer(
    help="See which keys are in use, and rotate them.", no_args_is_help=True, rich_markup_mode=None
)

DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Change nothing; say what would be done.")]


@app.command("status")
def status(
    *,
    as_json: Json = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Which master key wraps now, what is still under older ones, which is missing (exit 1), which rotations are unfinished."""

    async def work(db: "Database", kms: "Kms") -> None:
        from tidings.kernel.keys.status import check_master_keys, key_status

        found = await key_status(db, kms)
        if as_json:
            print(
                json.dumps(
                    {
                        "master_key_id": found.master_key_id,
                        "by_master": {
                            key_id: {"tenant_keys": tenants, "platform_keys": platform}
                            for key_id, (tenants, platform) in found.by_master.items()
                        },
                        "unfinished": found.unfinished,
                        "missing": found.missing,
                    },
                    indent=2,
                )
            )
            await check_master_keys(db, kms)
            return
        print(f"master key in use: {found.master_key_id}")
        for key_id, (tenants, platform) in found.by_master.items():
            older = "" if key_id == found.master_key_id else "older: `tidings keys rotate-master --resume`"
            note = "MISSING: not in the key file" if key_id in found.missing else older
            print(f"  {key_id}: {tenants} tenant keys, {platform} platform keys{note and f'   ({note})'}")
        for tenant_id, (oldest, newest) in found.unfinished.items():
            print(
                f"  {tenant_id}: unfinished, versions {oldest} to {newest} in use (rotate-tenant finishes it)"
            )
        await check_master_keys(db, kms)

    _run(work, data_dir, database_url)


@app.command("rotate-master")
def rotate_master(
    *,
    resume: Annotated[
        bool, typer.Option("--resume", help="Make no new master key; finish a run that was cut off.")
    ] = False,
    dry_run: DryRunOption = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Make a new master key and wrap every tenant and platform key with it. Keep the old one for backups."""

    async def work(db: "Database", kms: "Kms") -> None:
        from tidings.kernel.keys import rotation as key_rotation
        from tidings.kernel.keys.status import check_master_keys, key_status

        if dry_run:
            await check_master_keys(db, kms)
            found = await key_status(db, kms)
            due = {k: sum(n) for k, n in found.by_master.items() if not resume or k != found.master_key_id}
            print(f"would wrap {sum(due.values())} tenant and platform keys anew; no content is touched")
            return
        with _progress("master key") as on_progress:
            done = await key_rotation.rotate_master(db, kms, new_key=not resume, on_progress=on_progress)
        print(
            f"master key {done.master_key_id} is in use: {done.tenant_keys} tenant keys and "
            f"{done.platform_keys} platform keys were wrapped with it"
        )
        print("back the key file up now: without it nothing can be read")

    _run(work, data_dir, database_url)


@app.command("rotate-tenant")
def rotate_tenant(
    tenant: Annotated[str, typer.Argument(help="The tenant's id, tnt_…")],
    *,
    dry_run: DryRunOption = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Give a tenant a new key and wrap its recipients' keys with it; finishes a run that was cut off."""

    async def work(db: "Database", kms: "Kms") -> None:
        from tidings.kernel.clock import SystemClock
        from tidings.kernel.ids import TENANT
        from tidings.kernel.keys import rotation as key_rotation
        from tidings.kernel.keys.keyring import Keyring

        tenant_id = TENANT.parse(tenant, field="TENANT")
        if dry_run:
            count = await key_rotation.plan_tenant_rotation(db, tenant_id)
            print(f"would wrap {count} recipients' keys anew; no content is touched")
            return
        if not await key_rotation.has_keys(db, tenant_id):
            from tidings.cli.failures import CommandError

            raise CommandError(f"{tenant_id} has no keys here; is the id right?")
        keyring = Keyring(kms, clock=SystemClock())
        with _progress(tenant_id) as on_progress:
            done = await key_rotation.rotate_tenant(db, keyring, tenant_id, on_progress=on_progress)
        finished = "finished an earlier rotation: " if done.resumed else ""
        print(
            f"{finished}version {done.version} is in use, {done.rewrapped} keys were wrapped with it, "
            f"{done.retired} older version{'' if done.retired == 1 else 's'} retired"
        )

    _run(work, data_dir, database_url)


def _run(
    work: "Callable[[Database, Kms], Awaitable[None]]", data_dir: Path | None, database_url: str | None
) -> None:
    async def connected() -> None:
        async with open_database(data_dir, database_url) as (db, kms):
            await work(db, kms)

    asyncio.run(connected())


@contextmanager
def _progress(what: str) -> "Iterator[OnProgress]":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"wrapping keys of {what}", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
