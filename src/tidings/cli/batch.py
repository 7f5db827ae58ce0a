"""`tidings batch`: one template to many people; write, try out, start, follow, pause, resume, cancel."""

import sys
import time
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import JsonObject, Output, command_group
from tidings.cli.import_file import IMPORT
from tidings.cli.printing import counted, shown, table, to_the_second
from tidings.cli.resource import ResourceCommands, Row

_EVERY_SECONDS = 1.0
#: A batch that ended otherwise than by reaching everybody.
_BAD_ENDS = ("cancelled", "failed")

#: Of rates.
_UNITS = ("minute", "hour", "day")

app = command_group()

Which = Annotated[str, typer.Argument(metavar="BATCH", help="dbt_…")]


def _line(batch: Mapping[str, Any]) -> str:
    totals = batch["totals"]
    done = totals["people"] - totals["remaining"]
    return shown(
        f"{batch['id']}  {batch['status']:<10}{done:>9,} of {totals['people']:<9,}{batch['template']:<28} {batch['name']}"
    ).rstrip()


def _lines(batch: JsonObject) -> Iterator[str]:
    yield _line(batch)
    whom = batch["filter"] or ("a list" if batch["listed"] else "nobody yet")
    yield shown(f"  for {whom}, by {batch['channel']}, as {batch['category']}, priority {batch['priority']}")
    totals = {name.replace("_", " "): n for name, n in batch["totals"].items() if n}
    if totals:
        yield "  " + ", ".join(f"{n:,} {name}" for name, n in totals.items())
    if batch["scheduled_for"]:
        yield f"  begins {to_the_second(batch['scheduled_for'])}"
    if batch["local_time"]:
        yield f"  at {batch['local_time']} of everybody's own clock"
    yield from _paces(batch["pacing"] or {})
    if batch["needs_approval"] or batch["approved_by"]:
        yield shown(
            f"  approved by {batch['approved_by']}" if batch["approved_by"] else "  waits for an approval"
        )
    if batch["problem"]:
        yield shown(f"  problem: {batch['problem']}")


def _paces(pacing: Mapping[str, Any]) -> Iterator[str]:
    if pacing.get("per_minute"):
        yield f"  {pacing['per_minute']:,} people a minute at most"
    for domain, most in pacing.get("domains", {}).items():
        yield shown(f"  to {domain}: {most:,} a minute")
    for name, rate in [*pacing.get("accounts", {}).items(), *pacing.get("vendors", {}).items()]:
        said = [
            f"{rate[f'per_{unit}']:,} a{'n' * (unit == 'hour')} {unit}"
            for unit in _UNITS
            if rate.get(f"per_{unit}")
        ]
        days = ", ".join(f"{most:,}" for most in rate.get("warm_up", ()))
        said += [f"day by day {days}"] if days else []
        yield shown(f"  through {name}: {'; '.join(said)}")


def _previewed(preview: JsonObject) -> Iterator[str]:
    yield f"{preview['count']:,} people"
    for channel, n in preview["channels"].items():
        yield f"  {n:,} have an address on {channel}"
    for one in preview["sample"]:
        yield shown(f"  {one['recipient_id']}  {', '.join(one['to'])}").rstrip()
        yield from (shown(f"    problem: {problem}") for problem in one["problems"])
    for problem in preview["problems"]:
        yield shown(f"problem: {problem}")


def _reported(report: JsonObject) -> Iterator[str]:
    yield f"{report['batch_id']}  {report['status']}"
    states = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in report["states"].items())
    yield f"{report['met']:,} people were met, each once: {states or 'nobody yet'}"
    if report["unmet"]:
        yield f"{report['unmet']:,} were not met"
    if proof := report["proof"]:
        same = "as many as were counted" if proof["agrees"] else "AND NOT what was counted"
        yield f"the ledger has {proof['people']:,} lines, {same}"
    heads = (
        "variant",
        "percent",
        "people",
        "sent",
        "delivered",
        "failed",
        "suppressed",
        "bounced",
        "opened",
        "clicked",
    )
    yield from table(heads, [[one["name"], *(one[head] for head in heads[1:])] for one in report["variants"]])
    if unread := report["unread_answers"]:
        yield f"{counted(len(unread), 'message')} may have arrived twice: a vendor's answer was never read"
        for one in unread:
            yield f"  {one['recipient_id']}  {one['notification_id']}"


@api_command(app, "watch")
def watch(
    api: Api,
    which: Which,
    *,
    every: Annotated[float, typer.Option(help="Seconds between two looks.", min=0.05)] = _EVERY_SECONDS,
) -> Output:
    """Follow a batch until nothing of it is under way: with a bar, or a line for each change where no terminal reads it.

    The exit code is 0 where it was completed, and 1 where it was cancelled or has failed.
    """
    from rich.progress import MofNCompleteColumn

    from tidings.cli.printing import progress_bar

    with progress_bar(MofNCompleteColumn()) as bar:
        batch = api.call("show_batch", which)
        task = bar.add_task(shown(batch["name"]), total=None)
        before = ""
        while True:
            totals = batch["totals"]
            bar.update(task, total=totals["people"] or None, completed=totals["people"] - totals["remaining"])
            now = _line(batch)
            if bar.disable and now != before:
                print(now, file=sys.stderr, flush=True)
            before = now
            if batch["completed_at"]:
                break
            time.sleep(every)
            batch = api.call("show_batch", which)
    api.exit_code = int(batch["status"] in _BAD_ENDS)
    return Output(batch, _lines(batch))


_SEEN = Row(text=_lines)
ResourceCommands(
    "batches",
    names={"put": "change"},
    which="dbt_…",
    line=_line,
    lines=_lines,
    rows={
        "create": _SEEN,
        "put": _SEEN,
        "clone": _SEEN,
        "approve": _SEEN,
        "start": _SEEN,
        "pause": _SEEN,
        "resume": _SEEN,
        "cancel": _SEEN,
        "preview": Row(text=_previewed),
        "upload": IMPORT,
        "dry-run": Row(text=_previewed),
        "report": Row(text=_reported),
    },
    empty="there is no batch yet; `tidings batch create` writes one",
).add_to(app)
