"""Somebody who was handed a portal link, as a browser without a login opens it."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2

from tests.integration.webhooks.arranging import HOME, Subscriber


@dataclass(frozen=True, slots=True, kw_only=True)
class PortalVisitor:
    """A link, and a browser."""

    link: dict[str, Any]
    browser: httpx2.AsyncClient

    @property
    def home(self) -> str:
        """The path of the portal."""
        return urlsplit(str(self.link["url"])).path

    async def look(self, path: str = "", **headers: str) -> httpx2.Response:
        """A page."""
        return await self.browser.get(f"{self.home}{path}", headers=headers)

    async def sends(
        self, path: str = "", headers: dict[str, str] | None = None, **form: Any
    ) -> httpx2.Response:
        """A form."""
        return await self.browser.post(f"{self.home}{path}", data=form, headers=headers or {})

    async def does(self, webhook_id: str, do: str, **form: Any) -> httpx2.Response:
        """One of the buttons of an endpoint."""
        return await self.sends(f"/endpoints/{webhook_id}", do=do, **form)

    async def version(self, webhook_id: str, form: str = "change") -> str:
        """The version that a form was made of."""
        found = re.search(
            r'name="version" value="(\d+)"', (await self.look(f"/endpoints/{webhook_id}/{form}")).text
        )
        assert found is not None
        return found[1]


async def visitor_of(subscriber: Subscriber, webhook_id: str, **wish: Any) -> PortalVisitor:
    """Somebody with a new link."""
    made = await subscriber.client.post(f"{HOME}/{webhook_id}/portal-links", json=wish)
    assert made.status_code == 201, made.text
    return PortalVisitor(link=made.json(), browser=subscriber.world.http.client())
