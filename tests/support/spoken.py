"""A sandbox that speaks a vendor's dialect, an account that sends through it, and a hook that hears it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import httpx2
import msgspec

from tests.support.clock import ManualClock
from tests.support.played_http import PlayedHttp, answer, played_http
from tidings.contracts.adapters import Adapter
from tidings.contracts.callback_forms import (
    CallbackForm,
    ParsedCallback,
    RawCallback,
    UnverifiedCallback,
    VerifiedCallback,
)
from tidings.contracts.messages import OutboundMessage, Outcome
from tidings.router.adapters.kind import AdapterContext, AdapterKind
from tidings.sandbox import Sandbox

NOW = datetime.fromisoformat("2026-11-15T12:00:00+00:00")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """All of it."""

    sandbox: Sandbox
    clock: ManualClock
    web: httpx2.AsyncClient
    adapter: Adapter
    form: CallbackForm
    settings: msgspec.Struct
    hooked: PlayedHttp
    hook_url: str

    async def send(self, message: OutboundMessage) -> Outcome:
        """Over the vendor's protocol."""
        (outcome,) = await self.adapter.send([message])
        return outcome

    async def advance(self, seconds: float) -> None:
        """And wait for what is due then."""
        await self.clock.advance(timedelta(seconds=seconds))
        async with asyncio.timeout(20):
            await self.sandbox.postman.settled()

    async def script(self, name: str) -> None:
        """For every vendor's next messages over every channel."""
        kind = self.form.name
        (await self.web.put(f"/scripts/{kind}", json={"script": name})).raise_for_status()

    async def write_back(self, **wrote: str) -> httpx2.Response:
        """A person writes."""
        return await self.web.post(f"/inbound/{self.form.name}", json=wrote)

    async def heard(self) -> tuple[list[ParsedCallback], list[UnverifiedCallback]]:
        """What the hook heard since, as the account's form reads it."""
        keys = self.form.keys(self.settings)
        assert keys is not None
        readings, refusals = [], []
        for head, body in self.hooked.heard:
            lines = [line.split(": ", 1) for line in head.split("\r\n")[1:] if line]
            request = RawCallback(
                method=head.partition(" ")[0],
                url=self.hook_url,
                headers={name.lower(): (value,) for name, value in lines},
                body=body,
                received_at=self.clock.now(),
            )
            found = await self.form.verify(request, keys)
            if isinstance(found, VerifiedCallback):
                readings.append(self.form.read(request, keys))
            else:
                refusals.append(found)
        self.hooked.heard.clear()
        return readings, refusals

    async def words(self) -> list[tuple[str, str]]:
        """Each event's message and meaning."""
        readings, _ = await self.heard()
        return [(event.vendor_message_id, event.status) for reading in readings for event in reading.events]


@asynccontextmanager
async def spoken(kind: AdapterKind, secret: str, **settings: Any) -> AsyncIterator[Spoken]:
    """An account of this kind whose vendor is the sandbox; its hook's secret is this one."""
    clock = ManualClock(NOW)
    async with (
        Sandbox(clock, seed=1) as sandbox,
        httpx2.AsyncClient(base_url=sandbox.url) as web,
        played_http(answer("200 OK", b"{}")) as hooked,
    ):
        read = msgspec.convert({"api_url": f"{sandbox.url}/{kind.name}", **settings}, kind.settings)
        url = f"http://127.0.0.1:{hooked.port}/hooks/{kind.name}/adcfg_1"
        told = await web.put(f"/hooks/{kind.name}", json={"url": url, "secret": secret})
        told.raise_for_status()
        adapter = kind.adapter(read, AdapterContext(clock=clock))
        assert kind.callbacks is not None
        try:
            yield Spoken(
                sandbox=sandbox,
                clock=clock,
                web=web,
                adapter=adapter,
                form=kind.callbacks,
                settings=read,
                hooked=hooked,
                hook_url=url,
            )
        finally:
            await adapter.close()
