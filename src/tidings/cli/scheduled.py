"""`tidings scheduled`: what is to be sent at its time."""

from collections.abc import Iterator

from tidings.cli.command import JsonObject
from tidings.cli.printing import shown, to_the_second
from tidings.cli.resource import ResourceCommands, Row

_DETAILS = (
    "trigger_id",
    "trigger_version",
    "source_event_id",
    "event_type",
    "event_source",
    "subject",
    "anchor",
    "offset",
    "local_time",
    "zone",
    "attempts",
    "last_error",
    "obsolete_reason",
    "obsolete_event_id",
)


def _line(one: JsonObject) -> str:
    what = f"{one['template']} ({one['channel']})" if one["template"] else one["kind"]
    made = one["notification_id"] or ""
    why = one["obsolete_reason"] or one["last_error"] or ""
    return shown(
        f"{one['id']}  {one['status']:<9}  {to_the_second(one['run_after'])}  {what}  {one['subject'] or ''}  {made}  {why}"
    ).rstrip()


def _lines(one: JsonObject) -> Iterator[str]:
    yield _line(one)
    yield from (shown(f"  {name:<17} {one[name]}") for name in _DETAILS if one.get(name))


app = ResourceCommands(
    "scheduled",
    line=_line,
    lines=_lines,
    empty="nothing is scheduled",
    which="sch_…",
    rows={"cancel": Row(text=_lines), "retry": Row(text=_lines)},
).app()
