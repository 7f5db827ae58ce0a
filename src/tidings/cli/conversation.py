"""`tidings conversation`: what people write, and what they are answered."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.api_command import Api, JsonObject, Output, api_command
from tidings.cli.options import Lines, moment_of
from tidings.cli.printing import counted, shown, to_the_second
from tidings.cli.resource import add_resource

if TYPE_CHECKING:
    from tidings_client import Tidings

#: Our own words are fetched one by one.
_MOST_BODIES = 50

app = typer.Typer(
    help="Conversations: what people write, and what they are answered.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Which = Annotated[str, typer.Argument(metavar="CONVERSATION", help="conv_…")]


def _line(conversation: Mapping[str, Any]) -> str:
    return shown(
        f"{conversation['id']}  {conversation['status']:<14}{conversation['channel']:<10}"
        f"{to_the_second(conversation['last_message_at'])}  {counted(conversation['messages'], 'message')}"
        f"  {conversation['sender']}  {conversation['recipient_id'] or ''}"
    ).rstrip()


def _lines(found: JsonObject) -> Iterator[str]:
    yield _line(found)
    with_whom = found["recipient_id"] or "somebody who is not known"
    yield shown(f"  with {with_whom}, begun by the {found['opened_by']} {to_the_second(found['opened_at'])}")
    if found["closed_at"]:
        why = str(found["close_reason"]).replace("_", " ")
        yield shown(f"  closed {to_the_second(found['closed_at'])} ({why})")
    else:
        yield shown(f"  ends {to_the_second(found['expires_at'])}, unless somebody says something")


@api_command(app, "list", text=_line)
def list_(
    api: Api,
    *,
    status: Annotated[
        str | None, typer.Option("--status", help="OPEN, CLOSED_STOP, CLOSED_IDLE or CLOSED_MANUAL.")
    ] = None,
    channel: Annotated[str | None, typer.Option("--channel", help="sms, whatsapp, …")] = None,
    recipient: Annotated[str | None, typer.Option("--recipient", help="With this person, rcp_…")] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", help="In which something was said then or later: 2026-11-15T12:00:00Z."),
    ] = None,
    lines: Lines = 20,
) -> list[JsonObject]:
    """Show conversations, the newest first, one line each."""
    wanted: dict[str, Any] = {"status": status.upper() if status else None, "channel": channel}
    wanted |= {"recipient": recipient, "since": moment_of(since, "--since")}
    return api.list_all("list_conversations", most=lines, **wanted)


@api_command(app, "show", text=_lines)
def show(api: Api, which: Which) -> JsonObject:
    """Show one, without what was said in it."""
    return api.call("show_conversation", which)


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
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to say.")],
    *,
    once: Annotated[
        str | None, typer.Option("--once", help="A key: the same order with the same key is given once.")
    ] = None,
) -> Output:
    """Answer over the same channel, as a notification through all gates; `tidings explain` tells what became of it."""
    done = api.call("answer_conversation", which, body={"text": text}, key=once)
    before = "" if done["created"] else ", ordered before"
    return Output(done, shown(f"{done['notification_id']} {done['status']}{before}"))


@api_command(app, "close", text=_line)
def close(
    api: Api,
    which: Which,
    *,
    reason: Annotated[str | None, typer.Option("--reason", help="Why; it is audited.")] = None,
) -> JsonObject:
    """End one by hand; the next message of either side begins another."""
    return api.call("close_conversation", which, body={} if reason is None else {"reason": reason})


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
    # A confirmation that did not go out, or of which nobody knows.
    marks += [line["status"] if line["status"] not in {"received", "sent"} else None, line["reason"]]
    noted = ", ".join(str(mark) for mark in marks if mark)
    before = f"{to_the_second(line['at'])} {arrow} "
    # The lines of a message stand below one another, further in than where a message can begin.
    told = [shown(each) for each in f"{words}{f'  [{noted}]' if noted else ''}".splitlines() if each.strip()]
    return shown(before) + f"\n{' ' * len(before)}".join(told)


add_resource(app, "conversations", names={"messages": "transcript", "add-message": "reply"})
