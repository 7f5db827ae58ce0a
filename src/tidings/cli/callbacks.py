"""`tidings callbacks`: what vendors sent that found no message, or no conversation; look at it, and have it tried again.

What an operator orders is in the platform's audit.
"""

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tidings.cli.command import JsonObject, Output, command_group
from tidings.cli.failures import CommandError
from tidings.cli.options import moment_of
from tidings.cli.printing import json_text, picked, shown
from tidings.cli.system import operator, system_command

if TYPE_CHECKING:
    from tidings.bootstrap import System
    from tidings.kernel.db import PlatformTx
    from tidings.router.callbacks.dead_letters import DeadCallbacks

app = command_group()

Vendor = Annotated[str | None, typer.Option(help="Only this vendor's.")]
Since = Annotated[str | None, typer.Option(help="Only those received since: 2026-11-15T12:00:00Z.")]
Limit = Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")]

_FIRST = ("id", "received_at", "vendor", "adapter=account_id")
_EVENT = (*_FIRST, "vendor_message_id", "means", "status", "looks", "next_look_at")
_MESSAGE = (*_FIRST, "vendor_message_id", "channel", "destination", "status", "looks", "next_look_at")
_REQUEST = (*_FIRST, "signed=signature_valid", "status", "reason")
#: What a batch did: the ids that are looked for again, how many are too old, why others are passed over.
_Requeued = tuple[Sequence[str], int, list[str]]


def _line(one: JsonObject) -> str:
    # Message ids are a vendor's words.
    values = (value for value in one.values() if value is not None and not isinstance(value, bool))
    words = (value.isoformat() if isinstance(value, datetime) else str(value) for value in values)
    return shown("  ".join(words))


def _check_since(*, since: str | None, **_: object) -> None:
    moment_of(since, "--since")


@system_command(app, "list", text=_line, empty="there are none", check=_check_since)
async def list_(
    system: "System",
    *,
    status: Annotated[
        Literal["dlq", "late_correlate", "queued", "refused"],
        typer.Option(
            help="dlq: given up; late_correlate: looked for again; queued: not looked at yet; refused: requests that "
            "were not taken.",
        ),
    ] = "dlq",
    vendor: Vendor = None,
    since: Since = None,
    limit: Limit = 100,
) -> list[JsonObject]:
    """Show callbacks that found no message, or requests that were refused, the newest first."""
    from tidings.router.callbacks import store
    from tidings.router.dead_letter_page import DeadLetterPage

    page = DeadLetterPage(vendor=vendor, since=moment_of(since, "--since"), limit=limit)
    async with system.db.platform() as tx:
        if status == "refused":
            requests = await store.list_requests(tx, page)
            return [picked(one, *_REQUEST) for one in requests]
        events = await store.list_events(tx, page, status=status)
        return [picked(one, *_EVENT) for one in events]


@system_command(app, "messages", text=_line, empty="there are none", check=_check_since)
async def messages(
    system: "System",
    *,
    status: Annotated[
        Literal["dead", "queued"], typer.Option(help="dead: given up; queued: tried again.")
    ] = "dead",
    vendor: Vendor = None,
    since: Since = None,
    limit: Limit = 100,
) -> list[JsonObject]:
    """Show what people wrote and what stands in no conversation, the newest first; not who wrote what."""
    from tidings.router.conversations import queue
    from tidings.router.dead_letter_page import DeadLetterPage

    page = DeadLetterPage(vendor=vendor, since=moment_of(since, "--since"), limit=limit)
    async with system.db.platform() as tx:
        found = await queue.list_inbound(tx, page, status=status)
    return [picked(one, *_MESSAGE) for one in found]


@system_command(app, "show", text=json_text)
async def show(
    system: "System",
    callback: Annotated[
        str, typer.Argument(help="The id of an event, whe_…, or of a refused request, whi_…")
    ],
    *,
    body: Annotated[
        bool, typer.Option("--body", help="Print the raw body instead, as it came; that is audited.")
    ] = False,
) -> JsonObject | None:
    """Show one, as JSON."""
    if callback.startswith("mo_"):
        raise CommandError(
            "what people wrote is theirs; `tidings callbacks messages` shows all that operators may see"
        )
    if not callback.startswith(("whe_", "whi_")):
        raise CommandError("CALLBACK must be the id of an event, whe_…, or of a refused request, whi_…")
    show_one = _show_request if callback.startswith("whi_") else _show_event
    # Printed after the commit that says who has seen it.
    async with system.db.platform() as tx:
        found = await show_one(system, tx, callback, body=body)
    if isinstance(found, bytes):
        sys.stdout.buffer.write(found)
        return None
    return found


async def _show_request(
    system: "System", tx: "PlatformTx", callback: str, *, body: bool
) -> JsonObject | bytes:
    from tidings.kernel.ids import time_of
    from tidings.router.callbacks import store
    from tidings.router.callbacks.errors import CallbackRequestNotFoundError
    from tidings.router.ids import INBOUND_WEBHOOK

    request_id = INBOUND_WEBHOOK.parse(callback, field="CALLBACK")
    if body:
        return await _dead(system).body_of_request(tx, system.kernel.blobs, request_id, actor=operator())
    found = await store.show_request(tx, request_id=request_id, received_at=time_of(request_id))
    if found is None:
        raise CallbackRequestNotFoundError
    return picked(found, *_REQUEST)


async def _show_event(system: "System", tx: "PlatformTx", callback: str, *, body: bool) -> JsonObject | bytes:
    from tidings.router.ids import INBOUND_WEBHOOK_EVENT

    event_id = INBOUND_WEBHOOK_EVENT.parse(callback, field="CALLBACK")
    if body:
        return await _dead(system).body_of_event(tx, system.kernel.blobs, event_id, actor=operator())
    return picked(await _dead(system).show(tx, event_id), *_EVENT)


def _check_requeue(
    *, callbacks: list[str] | None, vendor: str | None, since: str | None, of_people: bool
) -> None:
    if bool(callbacks) == (vendor is not None) or (vendor is None and (since is not None or of_people)):
        raise CommandError(
            "name them by their ids, whe_… or mo_…, or all of a vendor with --vendor VENDOR [--messages] [--since …]"
        )
    moment_of(since, "--since")
    written = [one for one in callbacks or () if one.startswith("mo_")]
    if written and len(written) < len(callbacks or ()):
        raise CommandError("name events, whe_…, or what people wrote, mo_…, and not both at once")
    for one in callbacks or ():
        _parsed(one, of_messages=bool(written))


@system_command(app, "requeue", check=_check_requeue)
async def requeue(
    system: "System",
    callbacks: Annotated[
        list[str] | None,
        typer.Argument(help="Ids of dead events, whe_…, or of what people wrote, mo_…", show_default=False),
    ] = None,
    *,
    vendor: Annotated[str | None, typer.Option(help="All dead ones of this vendor.")] = None,
    since: Since = None,
    of_people: Annotated[
        bool, typer.Option("--messages", help="With --vendor: what people wrote, instead of events.")
    ] = False,
    as_json: bool,
) -> Output:
    """Look for the messages of dead events again, at once and then for a day; or take what people wrote up again."""
    from tidings.kernel.durable.dead_letters import MOST_AT_ONCE

    moment = moment_of(since, "--since")
    of_messages = of_people or any(one.startswith("mo_") for one in callbacks or ())
    ids = [_parsed(one, of_messages=of_messages) for one in callbacks or ()]
    requeue_some = _requeue_messages if of_messages else _requeue_events
    count, lines = 0, list[str]()
    while True:
        async with system.db.platform() as tx:
            again, too_old, passed = await requeue_some(
                system, tx, ids[:MOST_AT_ONCE] if callbacks else None, vendor, moment
            )
        count += len(again)
        # At once: what is done stays done, and said, where a later portion fails.
        for line in [] if as_json else passed:
            print(line, flush=True)
        del ids[:MOST_AT_ONCE]
        if not ids if callbacks else len(again) < MOST_AT_ONCE:
            break
        print(f"tidings: requeued so far: {count}", file=sys.stderr)
    if vendor is not None and too_old:
        many = f"{too_old} or more" if too_old >= MOST_AT_ONCE else str(too_old)
        lines.append(f"too old to be looked for, because they came more than 35 days ago: {many}")
    elif vendor is not None and not count:
        where = "messages" if of_messages else "list"
        lines.append(f"there are no dead ones of {vendor}; `tidings callbacks {where}` shows those there are")
    return Output({"requeued": count}, [*lines, f"requeued: {count}"])


async def _requeue_events(
    system: "System", tx: "PlatformTx", ids: Sequence[Any] | None, vendor: str | None, since: datetime | None
) -> _Requeued:
    from tidings.kernel.ids import time_of
    from tidings.router.callbacks import store

    again = await _dead(system).requeue(tx, actor=operator(), ids=ids, vendor=vendor, since=since)
    await store.announce(tx)
    passed = [one for one in ids or () if one not in again.ids]
    found = {one: await store.show_event(tx, event_id=one, received_at=time_of(one)) for one in passed}
    whys = []
    for one, known in found.items():
        if known is None:
            why = "there is no such event, or it has found its message"
        elif known[0].status == "dlq":
            why = "it came more than 35 days ago, and is not looked for any more"
        else:
            look = known[0].next_look_at
            when = f"at {look:%Y-%m-%dT%H:%M:%SZ}" if look else "in a moment"
            why = f"it is not dead, its message is looked for again {when}"
        whys.append(f"{one}: {why}")
    return again.ids, again.too_old, whys


async def _requeue_messages(
    system: "System", tx: "PlatformTx", ids: Sequence[Any] | None, vendor: str | None, since: datetime | None
) -> _Requeued:
    from tidings.router.conversations import queue

    dead = queue.dead_inbound(audit=system.kernel.router_audit, clock=system.clock)
    again = await dead.requeue(tx, actor=operator(), ids=ids, vendor=vendor, since=since)
    await queue.announce(tx)
    passed = [one for one in ids or () if one not in again]
    found = {one: await queue.show_inbound(tx, one) for one in passed}
    gone = "there is no such message, or it has found its conversation"
    whys = [
        f"{one}: {'it is not dead, and is tried again' if known else gone}" for one, known in found.items()
    ]
    return again, 0, whys


def _dead(system: "System") -> "DeadCallbacks":
    from tidings.router.callbacks.dead_letters import DeadCallbacks

    return DeadCallbacks(audit=system.kernel.router_audit, keyring=system.kernel.keyring, clock=system.clock)


def _parsed(text: str, *, of_messages: bool) -> str:
    from tidings.kernel.errors import BadValueError
    from tidings.router.conversations.model import INBOUND_MESSAGE
    from tidings.router.ids import INBOUND_WEBHOOK_EVENT

    try:
        return INBOUND_MESSAGE.parse(text) if of_messages else INBOUND_WEBHOOK_EVENT.parse(text)
    except BadValueError:
        raise CommandError(
            f"{shown(text)} is not the id of an event, whe_…, or of what a person wrote, mo_…; "
            "`tidings callbacks list` and `tidings callbacks messages` show those there are"
        ) from None
