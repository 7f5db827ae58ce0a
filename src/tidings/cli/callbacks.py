"""`tidings callbacks`: what vendors told us that found no message; look at it, and have it looked for again.

What an operator orders is in the platform's audit.
"""

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tidings.cli.options import DatabaseUrl, DataDir, Json, moment_of
from tidings.cli.system import operator, run_with_system

if TYPE_CHECKING:
    from tidings.bootstrap import System
    from tidings.kernel.db import PlatformTx
    from tidings.kernel.ids import InboundWebhookEventId
    from tidings.router.callbacks.dead_letters import DeadCallbacks
    from tidings.router.callbacks.store import KeptRequest, OpenEvent

app = typer.Typer(
    help="Vendors' callbacks that found no message: look, and try again.",
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

        chosen = store.Chosen(vendor=vendor, since=moment)
        async with system.db.platform() as tx:
            if status == "refused":
                requests = await store.list_requests(tx, chosen=chosen, after=None, limit=limit)
                _print([_request(one) for one in requests], as_json=as_json)
            else:
                events = await store.list_events(tx, status=status, chosen=chosen, after=None, limit=limit)
                _print([_event(one) for one in events], as_json=as_json)

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
        from tidings.kernel.ids import INBOUND_WEBHOOK, INBOUND_WEBHOOK_EVENT, time_of
        from tidings.router.callbacks import store
        from tidings.router.callbacks.errors import CallbackRequestNotFoundError

        dead, actor = _dead(system), operator()
        # Shown after the commit that says who has seen it.
        if callback.startswith("whi_"):
            request_id = INBOUND_WEBHOOK.parse(callback, field="CALLBACK")
            async with system.db.platform() as tx:
                if body:
                    raw = await dead.body_of_request(tx, system.blobs, request_id, actor=actor)
                else:
                    found = await store.show_request(
                        tx, request_id=request_id, received_at=time_of(request_id)
                    )
                    if found is None:
                        raise CallbackRequestNotFoundError
                    told = _request(found)
        else:
            if not callback.startswith("whe_"):
                raise CommandError(
                    "CALLBACK must be the id of an event, whe_…, or of a refused request, whi_…"
                )
            event_id = INBOUND_WEBHOOK_EVENT.parse(callback, field="CALLBACK")
            async with system.db.platform() as tx:
                if body:
                    raw = await dead.body_of_event(tx, system.blobs, event_id, actor=actor)
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
        list[str] | None, typer.Argument(help="Ids of dead events, whe_…", show_default=False)
    ] = None,
    *,
    vendor: Annotated[str | None, typer.Option("--vendor", help="All dead ones of this vendor.")] = None,
    since: SinceOption = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Look for the messages of dead events again, at once and then for a day."""
    from tidings.cli.failures import CommandError

    if bool(callbacks) == (vendor is not None) or (since is not None and vendor is None):
        raise CommandError(
            "name the events by their ids, or all of a vendor with --vendor VENDOR [--since …]"
        )
    moment = moment_of(since, "--since")

    async def work(system: "System") -> None:
        from tidings.router.callbacks import store
        from tidings.router.callbacks.dead_letters import MOST_AT_ONCE

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


def _dead(system: "System") -> "DeadCallbacks":
    from tidings.router.callbacks.dead_letters import DeadCallbacks

    return DeadCallbacks(audit=system.router_audit, keyring=system.keyring, clock=system.clock)


def _event_id(text: str) -> "InboundWebhookEventId":
    from tidings.cli.failures import CommandError
    from tidings.cli.printing import shown
    from tidings.kernel.errors import BadValueError
    from tidings.kernel.ids import INBOUND_WEBHOOK_EVENT

    try:
        return INBOUND_WEBHOOK_EVENT.parse(text)
    except BadValueError:
        raise CommandError(f"{shown(text)} is not the id of an event, whe_…") from None


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
