"""What `tidings listen` prints: a line for each event, its body, and at the end how many there were."""

import json
import sys
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec
from rich.text import Text

from tidings.cli.printing import counted, json_text, print_lines, shown

if TYPE_CHECKING:
    from tidings.cli.listen_forwarding import Forwarded


class ListenPrinter:
    """Prints what becomes of each event, and counts."""

    def __init__(self, *, as_json: bool, bodies: bool) -> None:
        self._as_json = as_json
        self._bodies = bodies
        self.count: Counter[str] = Counter()

    def show(self, one: "Forwarded") -> None:
        """A line, and the body where it is wanted."""
        self.count["taken" if one.taken else "failed"] += 1
        if self._as_json:
            print(_json_line(one, bodies=self._bodies), flush=True)
            return
        print_lines([_line(one)])
        if self._bodies and one.body is not None:
            print(_indented(one.body), flush=True)

    def summary(self, *, forwards: bool) -> str:
        """What there was."""
        events = counted(self.count.total(), "event")
        return f"{events}: {self.count['taken']} taken, {self.count['failed']} not" if forwards else events


def say(text: str) -> None:
    """On standard error: standard output has the events alone."""
    print(f"tidings: {shown(text)}", file=sys.stderr, flush=True)


def _line(one: "Forwarded") -> Text:
    event = one.event
    line = Text(shown(f"{_clock(event.time)}  {event.subject:32}  {event.id}"))
    if one.status is not None or not one.taken:
        status = "" if one.status is None else str(one.status)
        line.append("  → ")
        line.append(shown(" ".join(filter(None, [status, one.why]))), "green" if one.taken else "red")
        line.append(f"  {one.milliseconds} ms")
    if not one.taken:
        line.append(f"  (once more: --resend {event.id})", "dim")
    return line


def _clock(moment: datetime) -> str:
    return moment.astimezone().strftime("%H:%M:%S")


def _json_line(one: "Forwarded", *, bodies: bool) -> str:
    event = one.event
    record: dict[str, Any] = {
        "id": event.id,
        "type": event.subject,
        "time": event.time,
        "status": one.status,
        "reason": one.reason,
        "milliseconds": one.milliseconds,
    }
    if bodies:
        record["body"] = None if one.body is None else msgspec.Raw(msgspec.json.format(one.body, indent=-1))
    return msgspec.json.encode(record).decode()


def _indented(body: bytes) -> str:
    return json_text(json.loads(body))
