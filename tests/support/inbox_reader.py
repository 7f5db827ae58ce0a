"""A visitor of the sandbox's shop, who reads their in-app inbox in a real Chromium."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx2

from tests.support.browser import Browser
from tests.support.inbox import settle
from tests.support.pipeline import PipelineWorld, Sender
from tidings.notify.inbox_live.hub import InboxHub
from tidings.sandbox.tenant_api import TenantAccess

#: Long enough for a slow and busy machine; nothing is asserted about it.
_PATIENCE = 30.0
#: Everything that the component shows.
ROOT = "document.querySelector('tidings-inbox').shadowRoot"
BELL = f"{ROOT}.querySelector('.bell')"
#: What has the focus, inside the component.
FOCUSED = f"{ROOT}.activeElement"


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxTab:
    """One tab with the shop in it."""

    browser: Browser

    async def see(self, expression: str) -> Any:
        """What an expression says now; `root` is all that the component shows."""
        return await self.browser.see(f"(() => {{ const root = {ROOT}; return {expression} }})()")

    async def until(self, expression: str) -> Any:
        """The same, once it is anything but nothing."""
        return await self.browser.until(f"(() => {{ const root = {ROOT}; return {expression} }})()")

    async def badge(self, text: str) -> None:
        """Wait until the bell says so; an empty text: no badge."""
        badge = "root.querySelector('.badge')"
        await self.until(f"({badge}.hidden ? '' : {badge}.textContent) === {text!r}")

    async def titles(self) -> list[str]:
        """What the list shows."""
        found: list[str] = await self.see("[...root.querySelectorAll('h3')].map((one) => one.textContent)")
        return found

    async def show_tab(self, name: str) -> None:
        """Choose a tab of the inbox."""
        await self.browser.click(f"{ROOT}.getElementById('tab-{name}')")
        await self.until(f"root.getElementById('tab-{name}').getAttribute('aria-selected') === 'true'")

    async def open_preferences(self) -> None:
        """Choose them in the header of the open inbox, and wait until categories are shown."""
        await self.browser.click(f"{ROOT}.querySelector('[part~=settings]')")
        await self.until("root.querySelectorAll('.preferences fieldset').length > 0")

    async def open_bell(self, items: int | None = None) -> None:
        """Click on the bell, and wait for the items."""
        await self.browser.click(BELL)
        await self.until("!root.querySelector('.panel').hidden")
        if items is not None:
            await self.until(f"root.querySelectorAll('article').length === {items}")


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxReaderAtShop:
    """A visitor of the shop of one tenant."""

    sender: Sender
    world: PipelineWorld
    first: InboxTab
    tabs: list[InboxTab] = field(default_factory=list)

    async def open(
        self, query: str = "", *, width: int = 900, height: int = 720, dark: bool = False, again: bool = False
    ) -> InboxTab:
        """Open the shop; in a second tab where `again`."""
        tab = self.first
        if again:
            tab = InboxTab(browser=await self.first.browser.tab())
            self.tabs.append(tab)
        await tab.browser.watch_for_faults()
        url = f"{self.world.sandbox.url}/inbox?{query}"
        await tab.browser.open(url, width=width, height=height, dark=dark, mobile=width < 500)
        await tab.until("Boolean(root?.querySelector('.panel'))")
        return tab

    async def get(self, *kinds: str, locale: str = "en", at_once: bool = False) -> None:
        """Messages, as the shop's backend sends them, the first first; in any order where `at_once`."""
        async with self.shop() as ask:
            for kind in kinds:
                answer = await ask.post("/inbox/messages", json={"kind": kind, "locale": locale})
                assert answer.status_code == 202, answer.text
                if not at_once:
                    await settle(self.world)
                    await self.world.clock.advance(timedelta(seconds=1))
        await settle(self.world)

    @asynccontextmanager
    async def shop(self) -> AsyncIterator[httpx2.AsyncClient]:
        """The shop's backend."""
        async with httpx2.AsyncClient(base_url=self.world.sandbox.url) as client:
            yield client

    async def recipient_id(self) -> str:
        """Who they are."""
        found = await self.sender.client.get("/api/v1/recipients")
        return str(found.json()["items"][0]["id"])

    async def inbox(self, **query: Any) -> dict[str, Any]:
        """The inbox, as the server has it."""
        path = f"/api/v1/recipients/{await self.recipient_id()}/inbox"
        answer = await self.sender.client.get(path, params=query)
        counts = await self.sender.client.get(f"{path}/counts")
        assert (answer.status_code, counts.status_code) == (200, 200), answer.text
        page: dict[str, Any] = answer.json() | counts.json()
        return page

    async def until_saved(self, unread: int, *, snoozed: int = 0) -> None:
        """Wait until the server has so many unread items, and so many that come back later."""
        async with asyncio.timeout(_PATIENCE):
            while (await self.inbox())["unread"] != unread or len(
                (await self.inbox(view="snoozed"))["items"]
            ) != snoozed:
                await asyncio.sleep(0.02)

    async def streams(self, wanted: int) -> None:
        """Wait until so many streams are open, of all that could be."""
        hub = self.world.system.notify.parts.get(InboxHub)
        async with asyncio.timeout(_PATIENCE):
            while len(hub) != wanted:
                await asyncio.sleep(0.02)

    async def faults(self) -> list[str]:
        """What went wrong in the pages."""
        return [fault for tab in (self.first, *self.tabs) for fault in await tab.browser.faults()]


@asynccontextmanager
async def reader_at_shop(world: PipelineWorld, site: str, tab: Browser) -> AsyncIterator[InboxReaderAtShop]:
    """A visitor of the shop of a new tenant; nothing went wrong in the page when they leave."""
    async with world.sender() as sender:
        key = sender.client.headers["authorization"].removeprefix("Bearer ")
        world.sandbox.api.open(TenantAccess(base_url=site, api_key=key))
        reader = InboxReaderAtShop(sender=sender, world=world, first=InboxTab(browser=tab))
        try:
            yield reader
            assert await reader.faults() == []
        finally:
            for one in (reader.first, *reader.tabs):
                await one.browser.offline(is_on=False)
                await one.browser.open("about:blank")
