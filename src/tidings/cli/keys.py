"""`tidings keys`: see which keys are in use, and rotate them. Nothing has to be stopped for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.command import Output, command_group, print_answer
from tidings.cli.failures import CommandError
from tidings.cli.printing import picked, progress_bar
from tidings.cli.system import DatabaseWithKeys, open_database, system_command

if TYPE_CHECKING:
    from tidings.kernel.keys.rotation import OnProgress
    from tidings.kernel.keys.status import KeyStatus

app = command_group()

DryRun = Annotated[bool, typer.Option("--dry-run", help="Change nothing; say what would be done.")]


@system_command(app, "status", opened=open_database)
async def status(connected: DatabaseWithKeys, *, as_json: bool) -> None:
    """Which master key wraps now, what is still under older ones, which is missing (exit 1), which rotations are unfinished."""
    from tidings.kernel.keys.status import check_master_keys, key_status

    found = await key_status(connected.db, connected.kms)
    by_master = {
        key_id: {"tenant_keys": tenants, "platform_keys": platform}
        for key_id, (tenants, platform) in found.by_master.items()
    }
    answer = {**picked(found, "master_key_id", "unfinished", "missing"), "by_master": by_master}
    print_answer(Output(answer, _lines(found)), as_json=as_json)
    await check_master_keys(connected.db, connected.kms)


def _lines(found: "KeyStatus") -> Iterator[str]:
    yield f"master key in use: {found.master_key_id}"
    for key_id, (tenants, platform) in found.by_master.items():
        older = "" if key_id == found.master_key_id else "older: `tidings keys rotate-master --resume`"
        note = "MISSING: not in the key file" if key_id in found.missing else older
        yield f"  {key_id}: {tenants} tenant keys, {platform} platform keys{note and f'   ({note})'}"
    for tenant_id, (oldest, newest) in found.unfinished.items():
        yield f"  {tenant_id}: unfinished, versions {oldest} to {newest} in use (rotate-tenant finishes it)"


@system_command(app, "rotate-master", opened=open_database)
async def rotate_master(
    connected: DatabaseWithKeys,
    *,
    resume: Annotated[
        bool, typer.Option("--resume", help="Make no new master key; finish a run that was cut off.")
    ] = False,
    dry_run: DryRun = False,
) -> Output:
    """Make a new master key and wrap every tenant and platform key with it. Keep the old one for backups."""
    from tidings.kernel.keys import rotation as key_rotation
    from tidings.kernel.keys.status import check_master_keys, key_status

    db, kms = connected
    if dry_run:
        await check_master_keys(db, kms)
        found = await key_status(db, kms)
        due = {k: sum(n) for k, n in found.by_master.items() if not resume or k != found.master_key_id}
        many = sum(due.values())
        return Output(
            {"keys": many}, f"would wrap {many} tenant and platform keys anew; no content is touched"
        )
    with _progress("master key") as on_progress:
        done = await key_rotation.rotate_master(db, kms, new_key=not resume, on_progress=on_progress)
    said = (
        f"master key {done.master_key_id} is in use: {done.tenant_keys} tenant keys and "
        f"{done.platform_keys} platform keys were wrapped with it"
    )
    answer = picked(done, "master_key_id", "tenant_keys", "platform_keys")
    return Output(answer, [said, "back the key file up now: without it nothing can be read"])


@system_command(app, "rotate-tenant", opened=open_database)
async def rotate_tenant(
    connected: DatabaseWithKeys,
    tenant: Annotated[str, typer.Argument(help="The tenant's id, tnt_…")],
    *,
    dry_run: DryRun = False,
) -> Output:
    """Give a tenant a new key and wrap its recipients' keys with it; finishes a run that was cut off."""
    from tidings.kernel.clock import SystemClock
    from tidings.kernel.ids import TENANT
    from tidings.kernel.keys import rotation as key_rotation
    from tidings.kernel.keys.keyring import Keyring

    db, kms = connected
    tenant_id = TENANT.parse(tenant, field="TENANT")
    if dry_run:
        count = await key_rotation.plan_tenant_rotation(db, tenant_id)
        return Output({"keys": count}, f"would wrap {count} recipients' keys anew; no content is touched")
    if not await key_rotation.has_keys(db, tenant_id):
        raise CommandError(f"{tenant_id} has no keys here; is the id right?")
    keyring = Keyring(kms, clock=SystemClock())
    with _progress(tenant_id) as on_progress:
        done = await key_rotation.rotate_tenant(db, keyring, tenant_id, on_progress=on_progress)
    finished = "finished an earlier rotation: " if done.resumed else ""
    said = (
        f"{finished}version {done.version} is in use, {done.rewrapped} keys were wrapped with it, "
        f"{done.retired} older version{'' if done.retired == 1 else 's'} retired"
    )
    return Output(picked(done, "version", "rewrapped", "retired", "resumed"), said)


@contextmanager
def _progress(what: str) -> "Iterator[OnProgress]":
    from rich.progress import MofNCompleteColumn

    with progress_bar(MofNCompleteColumn()) as bar:
        task = bar.add_task(f"wrapping keys of {what}", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
