"""`tidings event`: say what happened, see what came, hear what happens."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import JsonObject, Output, command_group, without_none
from tidings.cli.failures import CommandError
from tidings.cli.printing import json_text, picked
from tidings.cli.resource import ResourceCommands, Row
from tidings.cli.system import operator, system_command

if TYPE_CHECKING:
    from tidings.bootstrap import System

app = command_group()

#: Seconds that the server waits for an event at most.
_WAIT = 20


@api_command(app, "send")
def send(
    api: Api,
    *,
    type_: Annotated[
        str | None, typer.Option("--type", "-t", help="What happened, such as reservation.confirmed.")
    ] = None,
    source: Annotated[str, typer.Option(help="Where it happened: a URI.")] = "/tidings/cli",
    subject: Annotated[str | None, typer.Option(help="What it is about, such as a reservation.")] = None,
    id_: Annotated[
        str | None,
        typer.Option(
            "--id", help="Your own id of it; sending it again does nothing new. [default: a new one]"
        ),
    ] = None,
    time: Annotated[
        str | None, typer.Option(help="When it happened: 2026-12-01T09:00+04:30. [default: now]")
    ] = None,
    data: Annotated[str | None, typer.Option(help="What there is to say about it, as JSON.")] = None,
    file: Annotated[
        Path | None,
        typer.Option(help="A file with a CloudEvent, or with a list of them; - for standard input."),
    ] = None,
) -> Output:
    """Send an event, or those of a file; what listens to it goes to work."""
    from tidings.cli.message_options import json_file, json_value, moment_of

    if (type_ is None) == (file is None):
        raise CommandError("say what happened with --type, or name a file with --file")
    if file is not None:
        found = json_file(file, "--file")
        if isinstance(found, list):
            return _sent_batch(api, found)
        event = found
    else:
        from uuid import uuid4

        when = moment_of(time, "--time")
        event = without_none(
            specversion="1.0",
            id=id_ or str(uuid4()),
            source=source,
            type=type_,
            subject=subject,
            time=when.isoformat() if when is not None else None,
            data=None if data is None else json_value(data, "--data"),
        )
    done = api.call("send_event", body=event)
    again = "  (it was received before)" if done["duplicate"] else ""
    hint = f"`tidings event show {done['id']}` shows it"
    return Output(done, [f"{done['id']}{again}", hint])


@api_command(app, "tail")
def tail(
    api: Api,
    *,
    types: Annotated[
        str | None,
        typer.Option(
            help="Only these, with commas: notification.*.v1 (one word), notification.> (the rest)."
        ),
    ] = None,
    after: Annotated[
        str | None, typer.Option(help="beginning, now, or the cursor that was printed last. [default: now]")
    ] = None,
    reader: Annotated[
        str | None, typer.Option(help="Go on from a reader's place, and move it along; with its own types.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow/--no-follow", help="Go on until Ctrl-C, or show what is there and end.")
    ] = True,
) -> None:
    """Show events as they happen, a line for each; with --json as CloudEvents."""
    import sys

    from tidings_client import NotReachedError, UnavailableError

    if reader is not None and (types is not None or after is not None):
        raise CommandError("a reader has its own types and place; leave out --types and --after")
    query: dict[str, object] = {"types": types, "limit": 500, "reader": reader}
    if reader is None:
        query["after"] = after or ("now" if follow else "beginning")
    away = False
    try:
        while True:
            try:
                found = api.call("read_events", query={**query, "wait": _WAIT if follow else 0})
            except (NotReachedError, UnavailableError) as error:
                if not follow:
                    raise
                if not away:
                    print(f"tidings: {error}; trying again …", file=sys.stderr)
                away = True
                continue
            away = False
            for event in found["events"]:
                print(_json_line(event) if api.as_json else _event_line(event), flush=True)
            if reader is None:
                query["after"] = found["next_cursor"]
            elif found["events"]:
                api.call("put_event_reader", reader, body={"after": found["next_cursor"]})
            if not follow and not found["events"]:
                return
    except BrokenPipeError:
        # The reader of the pipe has ended, as in `tidings event tail | head`.
        sys.stderr.close()


@system_command(app, "migrations")
async def migrations(system: "System") -> Output:
    """Show which events are published in two versions, until when, and who still reads the older one."""
    from tidings.kernel.event_versions.store import list_windows

    async with system.db.worker() as tx:
        windows = await list_windows(tx)
    answer = [
        {
            **picked(one, "subject", "successor", "began_at", "ends_at", "closed_at"),
            "groups": [picked(group, "group", "completed_at") for group in one.groups],
        }
        for one in windows
    ]
    lines: list[str] = []
    for one in windows:
        state = (
            f"ended {one.closed_at:%Y-%m-%d}" if one.closed_at else f"until {one.ends_at:%Y-%m-%d} at least"
        )
        lines.append(f"{one.subject} → {one.successor}  {state}")
        lines += [f"  {group.group}  {'done' if group.completed_at else 'waits'}" for group in one.groups]
    return Output(answer, lines or "no event is published in two versions")


@system_command(app, "migrated")
async def migrated(
    system: "System",
    subject: Annotated[str, typer.Argument(help="The older version, such as order.placed.v1.")],
    *,
    group: Annotated[str, typer.Option(help="The group that reads the newer one: as `migrations` lists it.")],
) -> Output:
    """Say for a group that it reads the newer version of an event."""
    from tidings.kernel.audit.log import Entry
    from tidings.kernel.event_versions.store import complete, list_windows

    async with system.db.worker() as tx:
        windows = {one.subject: one for one in await list_windows(tx)}
    if subject not in windows or group not in {one.group for one in windows[subject].groups}:
        raise CommandError("no such group reads an older version of it; look at `tidings event migrations`")
    entry = Entry(
        entity_type="event_version",
        entity_id=subject,
        action="migration.completed",
        actor=operator(),
        after={"group": group},
    )
    async with system.db.platform() as platform_tx:
        await system.kernel.audit.append(platform_tx, [entry])
        await complete(platform_tx, [(subject, group)], now=system.clock.now())
    return Output({"subject": subject, "group": group}, f"{group} reads {windows[subject].successor}")


def _json_line(event: JsonObject) -> str:
    import json

    return json.dumps(event, ensure_ascii=False)


def _event_line(event: JsonObject) -> str:
    import json

    from tidings.cli.printing import shown

    facts = (
        f"{name}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in event["data"].items()
    )
    return shown(f"{event['time']}  {event['type']:32} {event['id']}  {'  '.join(facts)}")


def _sent_batch(api: Api, events: list[Any]) -> Output:
    done = api.call("send_events", body={"events": events})
    lines = [f"{done['accepted']} accepted, {done['duplicates']} known already, {done['refused']} refused"]
    lines += [
        f"  {one['index']}: {one['problem']['detail']}" for one in done["results"] if one.get("problem")
    ]
    api.exit_code = int(done["refused"] > 0)
    return Output(done, lines)


def _line(one: JsonObject) -> str:
    about = f"  {one['subject']}" if one.get("subject") else ""
    test = "  (test)" if one.get("is_test") else ""
    return f"{one['id']}  {one['received_at']}  {one['type']}  {one['source']}{about}{test}"


ResourceCommands(
    "events",
    # `send --file` takes a list; `tail` reads and streams.
    names={"send-batch": "", "list-received": "list", "read": "", "stream": ""},
    which="Its id, evt_…",
    empty="no event came in the last fifteen days; `tidings event send` sends one",
    rows={"show": Row(text=json_text), "list-received": Row(text=_line)},
).add_to(app)
