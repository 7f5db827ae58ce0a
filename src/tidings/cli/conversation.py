"""`tidings conversation`: what people write, and what they are answered."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.options import DataDir, Json, moment_of
from tidings.cli.printing import counted, print_json, shown, to_the_second

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


@app.command("list")
def list_(
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
    lines: Annotated[int, typer.Option("-n", "--lines", help="How many at most.", min=1, max=1000)] = 20,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show conversations, the newest first, one line each."""
    from tidings_client import conversations

    status = status.upper() if status else None
    said = moment_of(since, "--since")
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    with client(url, key, tenant, data_dir) as tidings:
        while True:
            page = tidings.call(
                conversations.page(
                    status=status,
                    channel=channel,
                    recipient=recipient,
                    since=said,
                    limit=min(lines - len(found), 200),
                    cursor=cursor,
                )
            )
            found += page["items"]
            cursor = page.get("next_cursor")
            if cursor is None or len(found) >= lines:
                break
    if as_json:
        print_json(found)
        return
    for conversation in found:
        print(_line(conversation))
    if not found:
        print("there is none")


@app.command("show")
def show(
    which: Which,
    *,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show one, without what was said in it."""
    from tidings_client import conversations

    with client(url, key, tenant, data_dir) as tidings:
        found = tidings.call(conversations.show(which))
    if as_json:
        print_json(found)
        return
    print(_line(found))
    with_whom = found["recipient_id"] or "somebody who is not known"
    print(shown(f"  with {with_whom}, begun by the {found['opened_by']} {to_the_second(found['opened_at'])}"))
    if found["closed_at"]:
        why = str(found["close_reason"]).replace("_", " ")
        print(shown(f"  closed {to_the_second(found['closed_at'])} ({why})"))
    else:
        print(shown(f"  ends {to_the_second(found['expires_at'])}, unless somebody says something"))


@app.command("transcript")
def transcript(
    which: Which,
    *,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Read what was said on both sides, the oldest first; that is audited."""
    from tidings_client import conversations

    said: list[dict[str, Any]] = []
    ours: dict[str, str] = {}
    cursor: str | None = None
    with client(url, key, tenant, data_dir) as tidings:
        while True:
            page = tidings.call(conversations.transcript(which, limit=200, cursor=cursor))
            said += page["items"]
            cursor = page.get("next_cursor")
            if cursor is None:
                break
        if not as_json and any(line["notification_id"] for line in said):
            ours = _our_words(tidings, said, tidings.call(conversations.show(which))["channel"])
    if as_json:
        print_json(said)
        return
    for line in said:
        print(_said(line, ours))
    if not said:
        print("nothing was said")


@app.command("reply")
def reply(
    which: Which,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to say.")],
    *,
    once: Annotated[
        str | None, typer.Option("--once", help="A key: the same order with the same key is given once.")
    ] = None,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Answer over the same channel, as a notification through all gates; `tidings explain` tells what became of it."""
    from tidings_client import conversations

    with client(url, key, tenant, data_dir) as tidings:
        done = tidings.call(conversations.answer(which, text, key=once))
    if as_json:
        print_json(done)
        return
    before = "" if done["created"] else ", ordered before"
    print(shown(f"{done['notification_id']} {done['status']}{before}"))


@app.command("close")
def close(
    which: Which,
    *,
    reason: Annotated[str | None, typer.Option("--reason", help="Why; it is audited.")] = None,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """End one by hand; the next message of either side begins another."""
    from tidings_client import conversations

    with client(url, key, tenant, data_dir) as tidings:
        done = tidings.call(conversations.close(which, reason=reason))
    print_json(done) if as_json else print(_line(done))


def _line(conversation: Mapping[str, Any]) -> str:
    return shown(
        f"{conversation['id']}  {conversation['status']:<14}{conversation['channel']:<10}"
        f"{to_the_second(conversation['last_message_at'])}  {counted(conversation['messages'], 'message')}"
        f"  {conversation['sender']}  {conversation['recipient_id'] or ''}"
    ).rstrip()


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
