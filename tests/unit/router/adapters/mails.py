"""A mail with everything in it, and vendors on loopback that take it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from tests.support.clock import ManualClock
from tests.support.played_http import PlayedHttp, played_http
from tests.support.vendors import MESSAGE
from tidings.contracts.adapters import Adapter
from tidings.contracts.callback_forms import RawCallback
from tidings.contracts.messages import Address, Attachment, Outcome
from tidings.router.adapters.kind import AdapterContext, AdapterKind

NOW = datetime(2026, 11, 15, 12, 0, 1, tzinfo=UTC)
FULL = replace(
    MESSAGE,
    sender=Address(value="orders@shop.example", name='Green "Tea", Shop'),
    to_name="لیلا",
    reply_to=Address(value="help@shop.example", name="Help"),
    headers=(("X-Campaign", "Grüße"), ("X-Priority", "1")),
    html='<p>The secret of the tea <img src="cid:leaf@tidings"></p>',
    attachments=(
        Attachment(
            filename="leaf.png", media_type="image/png", content=b"\x89PNG", inline_cid="leaf@tidings"
        ),
        Attachment(filename="bill.pdf", media_type="application/pdf", content=b"%PDF"),
    ),
    list_unsubscribe="https://shop.example/u/1?a=b",
    list_unsubscribe_mailto="leave@shop.example",
)
#: As a vendor that takes further headers gets them, in this order.
FURTHER = [
    ("Auto-Submitted", "auto-generated"),
    ("List-Unsubscribe", "<https://shop.example/u/1?a=b>, <mailto:leave@shop.example>"),
    ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"),
    ("X-Campaign", "=?utf-8?b?R3LDvMOfZQ==?="),
    ("X-Priority", "1"),
]


def made(kind: AdapterKind, settings: Mapping[str, Any]) -> Adapter:
    """The adapter, at a time that stands still."""
    return kind.adapter(msgspec.convert(settings, kind.settings), AdapterContext(clock=ManualClock(NOW)))


@asynccontextmanager
async def playing(
    kind: AdapterKind, settings: Mapping[str, Any], *answers: bytes
) -> AsyncIterator[tuple[Adapter, PlayedHttp]]:
    """The adapter with a vendor that answers so."""
    async with played_http(*answers) as vendor:
        adapter = made(
            kind, {"api_url": f"http://127.0.0.1:{vendor.port}", "timeout_seconds": 5.0, **settings}
        )
        try:
            yield adapter, vendor
        finally:
            await adapter.close()


async def answered(kind: AdapterKind, settings: Mapping[str, Any], answer: bytes) -> Outcome:
    """What becomes of a message where the vendor answers so."""
    async with playing(kind, settings, answer) as (adapter, _):
        (outcome,) = await adapter.send([MESSAGE])
    return outcome


def head_of(heard: tuple[str, bytes]) -> tuple[str, dict[str, str]]:
    """The first line of a request, and its headers by their names in lower case."""
    line, *rest = heard[0].strip().split("\r\n")
    return line, {name.lower(): value for name, _, value in (one.partition(": ") for one in rest)}


def called(body: bytes, *, at: datetime = NOW, **headers: str) -> RawCallback:
    """A callback with these headers, whose names have _ for -."""
    named = {name.replace("_", "-"): [value] for name, value in headers.items()}
    return RawCallback(headers={"content-type": ["application/json"], **named}, body=body, received_at=at)
