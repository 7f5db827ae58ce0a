"""`tidings conversation`: what people write, and what they are answered."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import JsonObject, Output, command_group
from tidings.cli.printing import counted, shown, to_the_second
from tidings.cli.resource import ResourceCommands, Row

if TYPE_CHECKING:
    from tidings_client import Tidings

#: Our own words are fetched one by one.
_MOST_BODIES = 50

app = command_group()

Which = Annotated[str, typer.Argument(metavar="CONVERSATION", help="conv_…")]


def _line(conversation: Mapping[str, Any]) -> str:
    return shown(
        f"{conversation['id']}  {conversation['status']:<14}{conversation['channel']:<10}"
        f"{to_the_second(conversation['last_message_at'])}  {counted(conversation['messages'], 'message')}"
        f"  {conversation['sender']}  {conversation['recipient_id'] or ''}"
    ).rstrip()


def _lines(found: JsonObject) -> Iterator[str]:
    yield _line(found)
    recipient = found["recipient_id"] or "a recipient that is not known"
    yield shown(f"  with {recipient}, begun by the {found['opened_by']} {to_the_second(found['opened_at'])}")
    if found["closed_at"]:
        why = str(found["close_reason"]).replace("_", " ")
        yield shown(f"  closed {to_the_second(found['closed_at'])} ({why})")
    else:
        yield shown(f"  ends {to_the_second(found['expires_at'])}, unless a message comes")


@api_command(app, "transcript", empty="nothing was said")
def transcript(api: Api, which: Which) -> Output | list[JsonObject]:
    """Read what was said on both sides, the oldest first; that is audited."""
    said = api.list_all("read_transcript", which, limit=200)
    ours: dict[str, str] = {}
    if not api.as_json and any(line["notification_id"] for line in said):
        ours = _our_words(api.tidings, said, api.call("show_conversation", which)["channel"])
    return Output(said, [_said(line, ours) for line in said]) if said else said


@api_command(app, "reply")
def reply(
    api: Api,
    which: Which,
    text: Annotated[str, typer.Argument(help="What to say.")],
    *,
    once: Annotated[
        str | None, typer.Option(help="A key: the same order with the same key is given once.")
    ] = None,
) -> Output:
    """Answer over the same channel, as a notification through all gates; `tidings explain` tells what became of it."""
    done = api.call("answer_conversation", which, body={"text": text}, key=once)
    before = "" if done["created"] else ", ordered before"
    return Output(done, shown(f"{done['notification_id']} {done['status']}{before}"))


def _our_words(tidings: "Tidings", said: Sequence[Mapping[str, Any]], channel: str) -> dict[str, str]:
    """What the newest notifications of a transcript said on its channel, by their ids; without those that may not be read."""
    from tidings_client import ProblemError

    found: dict[str, str] = {}
    ids = dict.fromkeys(line["notification_id"] for line in said if line["notification_id"])
    for notification_id in list(ids)[-_MOST_BODIES:]:
        try:
            body = tidings.body(notification_id, channel=channel)
        except ProblemError:
            continue
        if body.text:
            found[notification_id] = body.text
    return found


def _said(line: Mapping[str, Any], ours: Mapping[str, str]) -> str:
    arrow = "<" if line["direction"] == "in" else ">"
    words = line["text"]
    if words is None:
        notification_id = line["notification_id"]
        words = f"({notification_id or line['kind']})"
        if notification_id in ours:
            words = f"{ours[notification_id].strip()}  {words}"
    marks = [line["keyword"] if line["direction"] == "in" else None]
    # A confirmation that did not go out, or of which no answer came.
    marks += [line["status"] if line["status"] not in {"received", "sent"} else None, line["reason"]]
    noted = ", ".join(str(mark) for mark in marks if mark)
    before = f"{to_the_second(line['at'])} {arrow} "
    # The lines of a message stand below one another, further in than where a message can begin.
    told = [shown(each) for each in f"{words}{f'  [{noted}]' if noted else ''}".splitlines() if each.strip()]
    return shown(before) + f"\n{' ' * len(before)}".join(told)


ResourceCommands(
    "conversations",
    names={"messages": "transcript", "add-message": "reply"},
    which="conv_…",
    line=_line,
    lines=_lines,
    rows={"list": Row(lines=20), "close": Row(help={"reason": "Why; it is audited."}, text=_line)},
).add_to(app)
