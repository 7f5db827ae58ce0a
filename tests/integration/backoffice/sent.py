"""Notifications for pages to show, and the people who look at them."""

import html
import re
from collections.abc import Mapping
from typing import Any

import httpx2

from tests.integration.notifications.world import HOME, SentWorld, order, publish
from tests.support.operators import AtBrowser, SignedIn, an_operator
from tests.support.people import unused
from tidings.kernel.ids import TenantId


class ConsoleWorld(SentWorld):
    """A house that sends, and its operators in browsers."""

    async def house(self, **policy: Any) -> TenantId:
        """A tenant with a template and a channel."""
        tenant = await self.tenant(**policy)
        await self.channel(tenant.id)
        async with self.http.as_tenant(tenant.id) as client:
            await publish(client)
        return tenant.id

    async def operator(self, tenant_id: TenantId, role: str = "tenant.admin") -> SignedIn:
        """Somebody of a role, signed in."""
        return await an_operator(self.http, tenant_id, role=role, email=f"o-{unused()}")

    async def sent(self, who: SignedIn, *, status: str = "", **wish: Any) -> str:
        """A notification, in this status; its id."""
        answer = await who.post(HOME, order(**wish))
        assert answer.status_code == 202, answer.text
        made = str(answer.json()["id"])
        if status:
            assert who.who.tenant_id is not None
            await self.arrange(who.who.tenant_id, made, status=status)  # type: ignore[arg-type]
        return made


async def send_form(at: AtBrowser, path: str, fields: Mapping[str, str]) -> httpx2.Response:
    """Send a form with fields whose names are no Python names."""
    follow = True
    return await at.post(path, follow, **fields)


def words_of(page: str) -> str:
    """What a page says, without its tags."""
    body = re.sub(r"<(script|style)\b.*?</\1>", " ", page[page.index("<body") :], flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())
