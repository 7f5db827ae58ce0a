"""`tidings callbacks`: what vendors told us that found no message, or no conversation; look at it, and have it tried again.

What an operator orders is in the platform's audit.
"""

import json
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tidings.cli.options import DatabaseUrl, DataDir, Json, moment_of
from tidings.cli.system import operator, run_with_system

if TYPE_CHECKING:
    from tidings.bootstrap import System
    from tidings.kernel.db import PlatformTx
    from tidings.router.callbacks.dead_letters import DeadCallbacks
    from tidings.router.callbacks.store import KeptRequest, OpenEvent
    from tidings.router.conversations.model import InboundMessageId
    from tidings.router.conversations.queue import OpenInbound
    from tidings.router.ids import InboundWebhookEventId

app = typer.Typer(
    help="Vendors' callbacks that found no message, and what people wrote that found no conversation: look, try again.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

VendorOption = Annotated[str | None, typer.Option("--vendor", help="Only this vendor's.")]
SinceOption = Annotated[
    str | None, typer.Option("--since", help="Only those received since: 2026-11-15T12:00:00Z.")
]


@app.command("list")
def list_(
    *,
    status: Annotated[
        Literal["dlq", "late_correlate", "queued", "refused"],
        typer.Option(
            "--status",
            help="dlq: given up; late_correlate: looked for again; queued: not looked at yet; refused: requests that "
            "were not taken.",
        ),
    ] = "dlq",
    vendor: VendorOption = None,
    since: SinceOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many at most.")] = 100,
    as_json: Json = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Show callbacks that found no message, or requests that were refused, the newest first."""
    moment = moment_of(since, "--since")

    async def work(system: "System") -> None:
        from tidings.router.callbacks import store

        chosen = store.CallbackFilter(vendor=vendor, since=moment)
        async with system.db.platform() as tx:
            if status == "refused":
                requests = await store.list_requests(tx, chosen=chosen, after=None, limit=limit)
                _print([_request(one) for one in requests], as_json=as_json)
            else:
                events = await store.list_events(tx, status=status, chosen=chosen, after=None, limit=limit)
                _print([_event(one) for one in events], as_json=as_json)

    run_with_system(work, data_dir, database_url)


@app.command("messages")
def messages(
    *,
    status: Annotated[
        Literal["dead", "queued"], typer.Option("--status", help="dead: given up; queued: tried again.")
    ] = "dead",
    vendor: VendorOption = None,
    since: SinceOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many at most.")] = 100,
    as_json: Json = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Show what people wrote and what stands in no conversation, the newest first; not who wrote what."""
    moment = moment_of(since, "--since")

    async def work(system: "System") -> None:
        from tidings.router.conversations import queue

        async with system.db.platform() as tx:
            found = await queue.list_inbound(
                tx,
                status=status,
                chosen=queue.InboundFilter(vendor=vendor, since=moment),
                after_id=None,
                limit=limit,
            )
        _print([_message(one) for one in found], as_json=as_json)

    run_with_system(work, data_dir, database_url)


@app.command("show")
def show(
    callback: Annotated[
        str, typer.Argument(help="The id of an event, whe_…, or of a refused request, whi_…")
    ],
    *,
    body: Annotated[
        bool, typer.Option("--body", help="Print the raw body instead, as it came; that is audited.")
    ] = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Show one, as JSON."""

    async def work(system: "System") -> None:
        from tidings.cli.failures import CommandError
        from tidings.kernel.ids import time_of
        from tidings.router.callbacks import store
        from tidings.router.callbacks.errors import CallbackRequestNotFoundError
        from tidings.router.ids import INBOUND_WEBHOOK, INBOUND_WEBHOOK_EVENT

        dead, actor = _dead(system), operator()
        # Shown after the commit that says who has seen it.
        if callback.startswith("whi_"):
            request_id = INBOUND_WEBHOOK.parse(callback, field="CALLBACK")
            async with system.db.platform() as tx:
                if body:
                    raw = await dead.body_of_request(tx, system.kernel.blobs, request_id, actor=actor)
                else:
                    found = await store.show_request(
                        tx, request_id=request_id, received_at=time_of(request_id)
                    )
                    if found is None:
                        raise CallbackRequestNotFoundError
                    told = _request(found)
        else:
            if not callback.startswith("whe_"):
                if callback.startswith("mo_"):
                    raise CommandError(
                        "what people wrote is theirs; `tidings callbacks messages` shows all that operators may see"
                    )
                raise CommandError(
                    "CALLBACK must be the id of an event, whe_…, or of a refused request, whi_…"
                )
            event_id = INBOUND_WEBHOOK_EVENT.parse(callback, field="CALLBACK")
            async with system.db.platform() as tx:
                if body:
                    raw = await dead.body_of_event(tx, system.kernel.blobs, event_id, actor=actor)
                else:
                    told = _event(await dead.show(tx, event_id))
        if body:
            sys.stdout.buffer.write(raw)
        else:
            print(json.dumps(told, indent=2))

    run_with_system(work, data_dir, database_url)


@app.command("requeue")
def requeue(
    callbacks: Annotated[
        list[str] | None,
        typer.Argument(help="Ids of dead events, whe_…, or of what people wrote, mo_…", show_default=False),
    ] = None,
    *,
    vendor: Annotated[str | None, typer.Option("--vendor", help="All dead ones of this vendor.")] = None,
    since: SinceOption = None,
    of_people: Annotated[
        bool, typer.Option("--messages", help="With --vendor: what people wrote, instead of events.")
    ] = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Look for the messages of dead events again, at once and then for a day; or take what people wrote up again."""
    from tidings.cli.failures import CommandError

    if bool(callbacks) == (vendor is not None) or (vendor is None and (since is not None or of_people)):
        raise CommandError(
            "name them by their ids, whe_… or mo_…, or all of a vendor with --vendor VENDOR [--messages] [--since …]"
        )
    moment = moment_of(since, "--since")
    written = [one for one in callbacks or () if one.startswith("mo_")]
    if written and len(written) < len(callbacks or ()):
        raise CommandError("name events, whe_…, or what people wrote, mo_…, and not both at once")
    if written or of_people:
        _requeue_messages(written, vendor, moment, data_dir, database_url)
        return

    async def work(system: "System") -> None:
        from tidings.kernel.durable.dead_letters import MOST_AT_ONCE
        from tidings.router.callbacks import store

        ids = [_event_id(one) for one in callbacks or ()]
        done: list[str] = []
        too_old = 0
        while True:
            some = ids[:MOST_AT_ONCE] if callbacks else None
            async with system.db.platform() as tx:
                again = await _dead(system).requeue(
                    tx, actor=operator(), ids=some, vendor=vendor, since=moment
                )
                await store.announce(tx)
                passed = [await _why_not(tx, one, again.ids) for one in some or ()]
            done += again.ids
            too_old = again.too_old
            for why in filter(None, passed):
                print(why)
            del ids[:MOST_AT_ONCE]
            if not ids if callbacks else len(again.ids) < MOST_AT_ONCE:
                break
        if vendor is not None and too_old:
            many = f"{too_old} or more" if too_old >= MOST_AT_ONCE else str(too_old)
            print(f"too old to be looked for, because they came more than 35 days ago: {many}")
        elif vendor is not None and not done:
            print(f"there are no dead ones of {vendor}; `tidings callbacks list` shows those there are")
        print(f"requeued: {len(done)}")

    run_with_system(work, data_dir, database_url)


def _requeue_messages(
    named: Sequence[str],
    vendor: str | None,
    since: datetime | None,
    data_dir: Path | None,
    database_url: str | None,
) -> None:
    async def work(system: "System") -> None:
        from tidings.kernel.durable.dead_letters import MOST_AT_ONCE
        from tidings.router.conversations import queue

        dead = queue.dead_inbound(audit=system.kernel.router_audit, clock=system.clock)
        ids = [_message_id(one) for one in named]
        count = 0
        while True:
            some = ids[:MOST_AT_ONCE] if named else None
            async with system.db.platform() as tx:
                again = await dead.requeue(tx, actor=operator(), ids=some, vendor=vendor, since=since)
                await queue.announce(tx)
                passed = [one for one in some or () if one not in again]
                known = {one: await queue.show_inbound(tx, one) for one in passed}
            for one, found in known.items():
                why = (
                    "it is not dead, and is tried again"
                    if found
                    else "there is no such message, or it has found its conversation"
                )
                print(f"{one}: {why}")
            count += len(again)
            del ids[:MOST_AT_ONCE]
            if not ids if named else len(again) < MOST_AT_ONCE:
                break
        if vendor is not None and not count:
            print(f"there are no dead ones of {vendor}; `tidings callbacks messages` shows those there are")
        print(f"requeued: {count}")

    run_with_system(work, data_dir, database_url)


def _message_id(text: str) -> "InboundMessageId":
    from tidings.cli.failures import CommandError
    from tidings.cli.printing import shown
    from tidings.kernel.errors import BadValueError
    from tidings.router.conversations.model import INBOUND_MESSAGE

    try:
        return INBOUND_MESSAGE.parse(text)
    except BadValueError:
        raise CommandError(
            f"{shown(text)} is not the id of what somebody wrote, mo_…; `tidings callbacks messages` shows those there are"
        ) from None


def _dead(system: "System") -> "DeadCallbacks":
    from tidings.router.callbacks.dead_letters import DeadCallbacks

    return DeadCallbacks(audit=system.kernel.router_audit, keyring=system.kernel.keyring, clock=system.clock)


def _event_id(text: str) -> "InboundWebhookEventId":
    from tidings.cli.failures import CommandError
    from tidings.cli.printing import shown
    from tidings.kernel.errors import BadValueError
    from tidings.router.ids import INBOUND_WEBHOOK_EVENT

    try:
        return INBOUND_WEBHOOK_EVENT.parse(text)
    except BadValueError:
        raise CommandError(
            f"{shown(text)} is not the id of an event, whe_…, or of what somebody wrote, mo_…; "
            "`tidings callbacks list` and `tidings callbacks messages` show those there are"
        ) from None


async def _why_not(
    tx: "PlatformTx", event_id: "InboundWebhookEventId", again: "Sequence[InboundWebhookEventId]"
) -> str | None:
    """Why an event that was named is not looked for again; None where it is."""
    from tidings.kernel.ids import time_of
    from tidings.router.callbacks import store

    if event_id in again:
        return None
    found = await store.show_event(tx, event_id=event_id, received_at=time_of(event_id))
    if found is None:
        return f"{event_id}: there is no such event, or it has found its message"
    event, _ = found
    if event.status == "dlq":
        return f"{event_id}: it came more than 35 days ago, and is not looked for any more"
    when = f" at {event.next_look_at:%Y-%m-%dT%H:%M:%SZ}" if event.next_look_at else " in a moment"
    return f"{event_id}: it is not dead, its message is looked for again{when}"


def _print(found: list[dict[str, object]], *, as_json: bool) -> None:
    from tidings.cli.printing import shown

    if as_json:
        print(json.dumps(found, indent=2))
        return
    for one in found:
        # Message ids are a vendor's words.
        words = (value for value in one.values() if value is not None and not isinstance(value, bool))
        print("  ".join(shown(str(value)) for value in words))
    if not found:
        print("there are none")


def _event(event: "OpenEvent") -> dict[str, object]:
    return {
        "id": event.id,
        "received_at": event.received_at.isoformat(),
        "vendor": event.vendor,
        "adapter": event.account_id,
        "vendor_message_id": event.vendor_message_id,
        "means": event.means,
        "status": event.status,
        "looks": event.looks,
        "next_look_at": event.next_look_at.isoformat() if event.next_look_at else None,
    }


def _message(message: "OpenInbound") -> dict[str, object]:
    return {
        "id": message.id,
        "received_at": message.received_at.isoformat(),
        "vendor": message.vendor,
        "adapter": message.account_id,
        "vendor_message_id": message.vendor_message_id,
        "channel": message.channel,
        "destination": message.destination,
        "status": message.status,
        "looks": message.looks,
        "next_look_at": message.next_look_at.isoformat() if message.next_look_at else None,
    }


def _request(request: "KeptRequest") -> dict[str, object]:
    return {
        "id": request.id,
        "received_at": request.received_at.isoformat(),
        "vendor": request.vendor,
        "adapter": request.account_id,
        "signed": request.signature_valid,
        "status": request.status,
        "reason": request.reason,
    }
