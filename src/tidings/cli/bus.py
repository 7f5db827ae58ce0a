"""`tidings bus`: on which engine the stream of events is, how far groups have come, and moving it."""

from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.command import Output, command_group
from tidings.cli.failures import CommandError
from tidings.cli.system import operator, system_command

if TYPE_CHECKING:
    from tidings.bootstrap import System
    from tidings.kernel.nats_bus.bus import NatsBus

app = command_group()


@system_command(app, "status")
async def status(system: "System") -> Output:
    """Show the engine, whether it answers, and how far each consumer group has come."""
    from tidings.kernel.errors import DegradedError
    from tidings.kernel.postgres_bus.place import find_place, groups_places

    bus = system.kernel.bus
    async with system.db.worker() as tx:
        place = await find_place(tx)
        groups = await groups_places(tx)
    try:
        said, degraded = await bus.check() or "answers", False
    except DegradedError as error:
        said, degraded = str(error), True
    answer = {
        "engine": place.engine,
        "state": said,
        "last_position": place.last_position if place.engine == "nats" else None,
        "groups": [
            {"group": one.group, "position": one.position, "parked": one.parked, "reader": one.reader}
            for one in groups
        ],
    }
    lines = [f"{place.engine}: {said}"]
    lines += [
        f"{one.group}  at {one.position}  {one.parked} set aside  read by {one.reader or 'nobody now'}"
        for one in groups
    ]
    return Output(answer, lines, exit_code=1 if degraded else 0)


@system_command(app, "move")
async def move(
    system: "System",
    *,
    to: Annotated[str, typer.Option(help="`postgres:`, or the URL of NATS.")],
    abandon: Annotated[
        bool, typer.Option("--abandon", help="Without NATS: what is there and was not read is given up.")
    ] = False,
) -> Output:
    """Move the stream of events to another engine, with all that was not read; processes that run go on, or say so."""
    from tidings.kernel.postgres_bus.place import find_place

    async with system.db.worker() as tx:
        place = await find_place(tx)
    if to == "postgres:":
        if place.engine == "postgres":
            return Output({"engine": "postgres", "copied": 0}, "the stream is in Postgres")
        await _audit(system, {"to": "postgres", "abandon": abandon})
        copied = await _back(system, abandon=abandon)
        return Output(
            {"engine": "postgres", "copied": copied},
            f"the stream is in Postgres now, with {copied} events that were not read by all; take TIDINGS_BUS_URL away from "
            "all processes, and restart them",
        )
    bus = _nats(system, to)
    try:
        await _audit(system, {"to": "nats"})
        await bus.stream.ensure()
    finally:
        await bus.close()
    return Output(
        {"engine": "nats", "first_position": bus.stream.first_position},
        f"the stream is on NATS from {bus.stream.first_position} on; groups read what is before it in Postgres. Set "
        "TIDINGS_BUS_URL for all processes, and restart them",
    )


async def _back(system: "System", *, abandon: bool) -> int:
    from tidings.kernel.nats_bus import move_back

    if abandon:
        await move_back.abandon(system.db)
        return 0
    url = system.settings.stores.bus_url
    if url is None or url.reveal() == "postgres:":
        raise CommandError(
            "set TIDINGS_BUS_URL to the NATS that has the stream, so that it can be copied; or --abandon it"
        )
    bus = _nats(system, url.reveal())
    try:
        return await move_back.move_back(bus.stream, system.db)
    finally:
        await bus.close()


def _nats(system: "System", url: str) -> "NatsBus":
    from tidings.kernel.bus_url import open_bus
    from tidings.kernel.nats_bus.bus import NatsBus
    from tidings.kernel.secrets import Secret

    kernel = system.kernel
    bus = open_bus(Secret(url), kernel.runtime_url, system.db, clock=system.clock, secrets=kernel.secrets)
    if not isinstance(bus, NatsBus):
        raise CommandError("--to is `postgres:` or a URL that begins with nats:// or tls://")
    return bus


async def _audit(system: "System", what: dict[str, object]) -> None:
    from tidings.kernel.audit.log import Entry

    entry = Entry(entity_type="bus", entity_id="stream", action="move.ordered", actor=operator(), after=what)
    async with system.db.platform() as tx:
        await system.kernel.audit.append(tx, [entry])
