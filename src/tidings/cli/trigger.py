"""`tidings trigger`: which event sends what to whom, and when; what came of events."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import JsonObject, Output, command_group
from tidings.cli.printing import shown, to_the_second
from tidings.cli.resource import ResourceCommands, Row

app = command_group()

_DETAILS = (
    "name",
    "recipient",
    "variables",
    "anchor",
    "offset",
    "local_time",
    "condition",
    "category",
    "priority",
    "cancelled_by",
    "replanned_by",
    "subject",
    "set",
    "customises",
    "version",
)


def _when(one: JsonObject) -> str:
    if not (one["offset"] or one["local_time"] or one["anchor"] != "$.time"):
        return "at once"
    parts = [one["anchor"], one["offset"] or "", f"at {one['local_time']}" if one["local_time"] else ""]
    return " ".join(part for part in parts if part)


def _line(one: JsonObject) -> str:
    mark = "on " if one["enabled"] else "off"
    what = f"{one['event_type']} → {one['template']} ({one['channel']}), {_when(one)}"
    return shown(f"{one['id']}  {mark}  {one['owner']:<8}  {what}")


def _lines(one: JsonObject) -> Iterator[str]:
    yield _line(one)
    yield from (shown(f"  {name:<13} {one[name]}") for name in _DETAILS if one.get(name))
    yield from (shown(f"  warning: {warning}") for warning in one.get("warnings") or ())


def _firing(one: JsonObject) -> str:
    made = one["notification_id"] or one["scheduled_id"] or ""
    why = f" ({one['reason']})" if one["reason"] else ""
    when = f"  for {to_the_second(one['send_at'])}" if one["result"] == "planned" else ""
    return shown(
        f"{to_the_second(one['fired_at'])}  {one['event_type']}  {one['trigger_id']}  {one['template']}  "
        f"{one['result']}{why}{when}  {made}"
    ).rstrip()


@api_command(app, "test")
def test(
    api: Api,
    *,
    file: Annotated[Path, typer.Option(help="A file with a CloudEvent; - for standard input.")],
) -> Output:
    """Ask which messages an event would make, to whom, when, and why not; nothing is written or sent."""
    from tidings.cli.message_options import json_file

    told = api.call("rehearse_event", body=json_file(file, "--file"))
    return Output(told, _rehearsal(told))


def _rehearsal(told: JsonObject) -> Iterator[str]:
    for one in told["planned"]:
        who = one["recipient"]
        hints = ", ".join(f"{a['channel']} {a['hint']}" for a in who["addresses"])
        name = (
            who["id"] or " ".join(filter(None, (who["identity_type"], who["identity_id"]))) or "somebody new"
        )
        yield shown(
            f"✓ {to_the_second(one['send_at'])}  {one['template']} ({one['channel']}) to {name}  {hints}"
        ).rstrip()
        yield shown(f"    {one['trigger']}: {one['why']}")
    for one in told["clears"]:
        yield shown(f"× {one['scheduled_id']}  {one['why']}  ({one['trigger']})")
    for one in told["not_planned"]:
        yield shown(f"- {one['template']}  {one['reason']}: {one['why']}  ({one['trigger']})")
    if not any(told.values()):
        yield "no trigger hears this event; `tidings trigger create` makes one"


@api_command(app, "adopt")
def adopt(
    api: Api, set_name: Annotated[str, typer.Argument(metavar="SET", help="Such as hotel or school.")]
) -> Output:
    """Switch on all triggers of a set that the platform ships: hotel, school."""
    done = api.call("adopt_trigger_set", set_name)
    lines = [f"{len(done['triggers'])} triggers of the set {set_name} fire from now on"]
    for one in done["triggers"]:
        lines.append(f"  {_line(one)}")
        lines += [shown(f"    warning: {warning}") for warning in one["warnings"]]
    return Output(done, lines)


ResourceCommands(
    "triggers",
    line=_line,
    lines=_lines,
    names={"test": "", "adopt": "", "put": "replace"},
    empty="there is no trigger; `tidings trigger create` makes one, and `tidings trigger sets` shows those that are shipped",
    help={
        "event_type": "The type of event that fires it, such as reservation.confirmed.",
        "template": "The key of a template.",
        "recipient": "A path such as $.data.guest; primary_guest, tenant_admins, iam_subject or vendor_assignee; a list of them goes by --file.",
        "variables": """What the template gets, as JSON: '{"place": "$.data.place"}'.""",
        "anchor": "A path to the moment or day that the time is reckoned from.",
        "offset": "From the anchor: -P2D, PT90M.",
        "local_time": "The hour of the day where the person is: 09:00.",
        "condition": "When it fires: data.nights >= 2.",
        "cancelled_by": "A type of event that clears what is planned; may be repeated.",
        "replanned_by": "A type of event that moves what is planned; may be repeated.",
        "subject": "A path to what the event is about.",
        "name": "For people.",
        "enabled": "Whether it fires.",
    },
    options={"enabled": "--enabled/--disabled"},
    rows={
        "firings": Row(
            about="Show what triggers made of events, and why not.", text=lambda one: [_firing(one)]
        ),
        "enable": Row(text=_lines),
        "disable": Row(text=_lines),
        "customise": Row(text=_lines),
        "sets": Row(about="Show the sets of triggers that the platform ships."),
    },
).add_to(app)
