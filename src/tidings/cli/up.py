"""`tidings up`: everything in one process, for a laptop and for a small house."""

import asyncio
import json
import os
import shlex
import socket
import sys
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli import options

if TYPE_CHECKING:
    from tidings.bootstrap import System
    from tidings.kernel.ids import TenantId
    from tidings.operations.embedded import DataDir, EmbeddedPostgres
    from tidings.sandbox import Sandbox
    from tidings.settings import Settings


#: How far back the month begins that `--demo` lives through.
_MONTH = timedelta(days=30)


def up(
    *,
    data_dir: options.DataDir = None,
    port: options.Port = None,
    host: options.Host = None,
    database_url: options.DatabaseUrl = None,
    owner_database_url: options.OwnerDatabaseUrl = None,
    metrics_port: options.MetricsPort = None,
    clock: Annotated[
        str | None,
        typer.Option(
            help="For trying out: a clock of its own that `tidings clock advance 2d` moves; "
            "it begins now, or at a moment such as 2026-12-01T08:00Z; in a new data dir that may be in the past."
        ),
    ] = None,
    demo: Annotated[
        bool,
        typer.Option(
            "--demo",
            help="Fill the demo tenant with a month, as `tidings demo` does; a new data dir begins thirty days ago "
            "and lives through them in a minute or two.",
        ),
    ] = False,
) -> None:
    """Start Tidings with its own Postgres, a demo tenant and a first key; Ctrl-C stops everything."""
    import uvloop

    from tidings import settings
    from tidings.cli.failures import CommandError
    from tidings.kernel import logs
    from tidings.kernel.http.serve import listen
    from tidings.operations.embedded import DataDir, EmbeddedPostgres

    chosen = settings.load(
        TIDINGS_DATA_DIR=data_dir,
        TIDINGS_PORT=port,
        TIDINGS_HOST=host,
        TIDINGS_DATABASE_URL=database_url,
        TIDINGS_OWNER_DATABASE_URL=owner_database_url,
        TIDINGS_METRICS_PORT=metrics_port,
    )
    if chosen.database.owner_url is not None and chosen.database.url is None:
        raise CommandError(
            "TIDINGS_OWNER_DATABASE_URL needs TIDINGS_DATABASE_URL, the same database as the runtime role"
        )
    chosen = settings.open_loopback(chosen)
    logs.configure(level=chosen.observability.log_level, style=chosen.observability.log_format)
    for warning in settings.warnings(chosen):
        typer.echo(f"tidings: warning: {warning}", err=True)
    listener = listen(chosen.http.host, chosen.http.port)
    folder = DataDir(chosen.data_dir)
    folder.open()
    try:
        _set_clock(folder, clock, lives_a_month=demo)
        if chosen.database.url is not None:
            runtime = chosen.database.url.reveal()
            owner = chosen.database.owner_url.reveal() if chosen.database.owner_url else None
            uvloop.run(_serve(chosen, folder, listener, runtime=runtime, owner=owner, fills=demo))
            return
        postgres = EmbeddedPostgres(folder)
        if not folder.demo.exists():
            print("First start: making the database, its schema and the platform's templates …", flush=True)
        # In the main thread, because the server is told to end when the thread that started it ends. The loop
        # runs in the same one, so that this also holds when the supervisor has started it again.
        postgres.start()
        try:
            runtime, owner = postgres.url("tidings_runtime"), postgres.url("tidings_owner")
            served = _serve(
                chosen, folder, listener, runtime=runtime, owner=owner, postgres=postgres, fills=demo
            )
            uvloop.run(served)
        finally:
            postgres.stop()
    finally:
        folder.close()
        listener.close()


def _set_clock(folder: "DataDir", wanted: str | None, *, lives_a_month: bool) -> None:
    """Make a clock that can be moved; one that is there goes on, because the rows carry its time. It may begin in the past where there are none yet."""
    from tidings.cli.clock import move_to
    from tidings.kernel.moved_clock import FURTHEST_BEHIND, read_ahead, write_ahead

    file = folder.clock
    ahead = read_ahead(file)
    if ahead is None and wanted is None:
        if lives_a_month and not folder.demo.exists():
            write_ahead(file, -_MONTH)
        return
    begins_now = ahead is None and (wanted == "now" or folder.demo.exists())
    if begins_now:
        write_ahead(file, timedelta(0))
    if wanted not in (None, "now"):
        move_to(
            file,
            wanted,
            "--clock",
            from_=-FURTHEST_BEHIND if ahead is None and not begins_now else ahead or timedelta(0),
        )
    typer.echo("tidings: this data dir has a clock of its own: for trying out only", err=True)


async def _serve(
    chosen: "Settings",
    folder: "DataDir",
    listener: socket.socket,
    *,
    runtime: str,
    owner: str | None,
    postgres: "EmbeddedPostgres | None" = None,
    fills: bool = False,
) -> None:
    from tidings import settings
    from tidings.bootstrap import System
    from tidings.bootstrap.health import listen_for_watchers
    from tidings.cli.process import prepare_schema, serve_until_stopped
    from tidings.kernel.egress import public_and
    from tidings.kernel.http.serve import address_of
    from tidings.kernel.moved_clock import FURTHEST, MovedClock, read_ahead
    from tidings.operations.demo import DemoMaker
    from tidings.operations.embedded import PostgresSupervisor
    from tidings.operations.sandbox_start import running_sandbox
    from tidings.sandbox.tenant_api import TenantAccess

    watched = listen_for_watchers(chosen, serves_api=True)
    clock = MovedClock(folder.clock) if folder.clock.exists() else None
    behind = max(timedelta(0), -(read_ahead(folder.clock) or timedelta(0)))
    await prepare_schema(runtime, owner, ahead=FURTHEST if clock is not None else timedelta(0), behind=behind)
    here = address_of(listener)
    public_url = chosen.http.public_url or here
    system = System(chosen, runtime_url=runtime, owner_url=owner, base_url=public_url, clock=clock)
    # Built before it opens, so that all statements are checked against the schema.
    _ = system.app, system.jobs()
    previous = _read(folder.demo)
    calls_loopback = public_and(settings.words(chosen.channels.tenant_networks))("127.0.0.1")
    # The sandbox outlives the system: what is being sent when we are told to stop still gets its answer.
    async with running_sandbox(chosen.sandbox, previous, system.clock) as sandbox, system:
        maker = DemoMaker(
            db=system.db,
            tenants=system.access.tenants,
            platform=system.platform_start,
            keys=system.access.keys,
            ledger=system.access.key_ledger,
            operators=system.backoffice.changer,
            clock=system.clock,
        )
        demo = await maker.ensure(previous)
        await system.platform_start.publish()
        await system.platform_start.publish_triggers()
        if sandbox is not None:
            await _send_to(sandbox, system, folder, demo.tenant_id, here=here)
            system.backoffice.places.add(sandbox.property_url)
            sandbox.open_api(
                TenantAccess(
                    base_url=here,
                    api_key=demo.api_key,
                    may_call_loopback=calls_loopback,
                )
            )
        facts = {
            # Commands of this machine call the address that we listen on; a proxy may not be there yet.
            "base_url": here,
            "public_url": public_url,
            "tenant_id": demo.tenant_id,
            "api_key": demo.api_key,
            "platform_key": demo.platform_key,
            "console_url": None if isinstance(demo.console_link, str) else demo.console_link.url(public_url),
            "database_url": runtime,
            "pid": os.getpid(),
            "sandbox_url": sandbox.url if sandbox else None,
            "inbox_url": f"{sandbox.url}/inbox" if sandbox else None,
            "receiver_url": sandbox.receiver_url if sandbox else None,
            "property_url": sandbox.property_url if sandbox else None,
            "smtp_port": sandbox.smtp_port if sandbox else None,
            "smpp_port": sandbox.smpp_port if sandbox else None,
            "apns_port": sandbox.apns_port if sandbox else None,
        }
        folder.write_private(folder.demo, facts)

        def greet() -> None:
            _greet(
                facts,
                folder.path,
                database=_age(system.clock.now().date()) if postgres else "outside",
                calls_loopback=calls_loopback,
                no_link=demo.console_link if isinstance(demo.console_link, str) else None,
                offers_month=not fills,
            )

        async def greet_after_the_month() -> None:
            await _fill(folder)
            # The first one was made a month ago.
            link = await maker.console_link(demo.tenant_id)
            facts["console_url"] = None if isinstance(link, str) else link.url(public_url)
            folder.write_private(folder.demo, facts)
            greet()

        async with asyncio.TaskGroup() as beside:
            filling: list[asyncio.Task[None]] = []
            await serve_until_stopped(
                system,
                listener,
                roles={"api", "jobs"},
                watched=watched,
                ready=(lambda: filling.append(beside.create_task(greet_after_the_month())))
                if fills
                else greet,
                stopping=lambda: print(
                    "\nStopping: what is under way is finished first; Ctrl-C again hurries.", flush=True
                ),
                more_jobs={"postgres": PostgresSupervisor(postgres)} if postgres else None,
            )
            for task in filling:
                task.cancel()
    print(f"Stopped. Everything is kept in {folder.path}; `tidings up` goes on with it.", flush=True)


async def _fill(folder: "DataDir") -> None:
    """Fill the demo tenant, in a process of its own that comes in by the API as any other."""
    command = (sys.executable, "-m", "tidings", "demo", "--data-dir", str(folder.path))
    process = await asyncio.create_subprocess_exec(*command)
    try:
        await process.wait()
    except asyncio.CancelledError:
        with suppress(ProcessLookupError):
            process.terminate()
        raise


async def _send_to(
    sandbox: "Sandbox", system: "System", folder: "DataDir", tenant_id: "TenantId", *, here: str
) -> None:
    """Let the platform send through the sandbox, the demo tenant through the platform, and receipts come back `here`."""
    from tidings.notify.channels.configure import ChannelConfigurer
    from tidings.operations.demo_channels import ensure_channels
    from tidings.operations.sandbox_vendor import connect_hooks, ensure_accounts, write_accounts

    write_accounts(folder, system.settings.secrets_dir(), sandbox)
    await ensure_accounts(system.db, system.router.adapter_configs, tenant_id=tenant_id)
    await connect_hooks(
        sandbox,
        system.db,
        system.router.adapter_configs,
        tenant_id=tenant_id,
        secrets_dir=system.settings.secrets_dir(),
        base_url=here,
    )
    configurer = ChannelConfigurer(
        router=system.router.adapter_configs, audit=system.kernel.audit, clock=system.clock
    )
    await ensure_channels(system.db, configurer, tenant_id=tenant_id)


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _public(facts: dict[str, Any]) -> str:
    """A line with the address that links in messages begin with, where it is another one than ours."""
    public = facts["public_url"]
    return (
        "" if public == facts["base_url"] else f"\n  Public     {public}  (links in messages begin with it)"
    )


def _inbox(facts: dict[str, Any]) -> str:
    """A line that leads to the in-app inbox, on a page that stands in for a site of one's own."""
    return f"\n  Inbox      {facts['inbox_url']}  (a page with a bell)" if facts["inbox_url"] else ""


def _receiver(facts: dict[str, Any], *, is_open: bool) -> str:
    """A line that leads to a receiver of webhooks, which shows each call and fails when told to."""
    url = facts["receiver_url"]
    can = "shows what it is told" if is_open else "tenants may not call this machine: TIDINGS_TENANT_NETWORKS"
    return f"\n  Webhooks   {url}  ({can})" if url else ""


def _elsewhere(data_dir: Path) -> str:
    """A line that says where the database is, if it could not be in the data dir."""
    link = data_dir / "postgres"
    return (
        f"\n             {link.resolve()}  (the database: its user can't reach the data dir)"
        if link.is_symlink()
        else ""
    )


def _first_message(facts: dict[str, Any], data_dir: Path) -> str:
    """A line that sends something, where there is a place for it to arrive."""
    if not facts["sandbox_url"]:
        return ""
    return (
        f"\n  {_program()} send laila@example.test --template otp --var code=042424 --wait{_where(data_dir)}"
    )


def _month(facts: dict[str, Any], data_dir: Path) -> str:
    """A line that fills the demo tenant, so that every page of the console has something to show."""
    return f"\n  {_program()} demo{_where(data_dir)}" if facts["sandbox_url"] else ""


def _program() -> str:
    return sys.argv[0] if Path(sys.argv[0]).name == "tidings" else f"{sys.executable} -m tidings"


def _where(data_dir: Path) -> str:
    return "" if data_dir == Path("tidings-data").absolute() else f" --data-dir {shlex.quote(str(data_dir))}"


def _age(today: date) -> str:
    """Which Postgres we brought, and how old it is: its holes are closed by the project that makes it, not by us."""
    from tidings.operations.embedded.bundled import bundled

    said = bundled().age(today)
    return f"{said}: for more than a trial, give Tidings a Postgres of its own" if "behind" in said else said


def _console(facts: dict[str, Any], no_link: str | None) -> str:
    if no_link is not None:
        return f"{facts['public_url']}/console\n             (no link for operator@demo.example: {no_link})"
    return (
        f"{facts['console_url']}\n"
        "             (opens once, within a quarter of an hour; `tidings operator link` makes another)"
    )


def _greet(
    facts: dict[str, Any],
    data_dir: Path,
    *,
    database: str,
    calls_loopback: bool,
    no_link: str | None = None,
    offers_month: bool = False,
) -> None:
    base, key = facts["base_url"], facts["api_key"]
    sent = (
        f"{facts['sandbox_url']}/  (everything that is sent arrives here)" if facts["sandbox_url"] else "off"
    )
    print(
        f"""
Tidings is running.

  API        {base}{_public(facts)}
  Reference  {base}/docs
  Console    {_console(facts, no_link)}
  Sandbox    {sent}{_inbox(facts)}{_receiver(facts, is_open=calls_loopback)}
  Database   {database}
  Tenant     {facts["tenant_id"]}
  API key    {key}
  Data dir   {data_dir}  (all of this is in demo.json){_elsewhere(data_dir)}

Try it in another terminal:

  curl -H 'Authorization: Bearer {key}' {base}/api/v1/tenant{_first_message(facts, data_dir)}{_month(facts, data_dir) if offers_month else ""}

Ctrl-C stops everything.
""",
        flush=True,
    )
