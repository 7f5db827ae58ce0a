"""Somebody who gets a message and follows its link."""

import re
from dataclasses import dataclass
from typing import Any

import httpx2

from tests.support.people import unused
from tests.support.pipeline import PipelineWorld, Sender, person
from tidings.contracts.ids import RecipientId


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """Who came, with which token, and the page as a browser without a login asks for it."""

    sender: Sender
    to: str
    recipient_id: RecipientId
    token: str
    browser: httpx2.AsyncClient

    async def choices(self) -> dict[str, Any]:
        """Their preferences, as the API shows them."""
        answer = await self.sender.client.get(f"/api/v1/recipients/{self.recipient_id}/preferences")
        assert answer.status_code == 200, answer.text
        return answer.json()  # type: ignore[no-any-return]

    async def consents(self) -> list[dict[str, Any]]:
        """Their ledger, the oldest first; the clock stands still, so that ids alone don't tell."""
        answer = await self.sender.client.get(f"/api/v1/recipients/{self.recipient_id}/consents")
        assert answer.status_code == 200, answer.text
        items: list[dict[str, Any]] = answer.json()["items"]
        return sorted(items, key=lambda line: line["preferences_version"])

    async def form(self) -> dict[str, Any]:
        """What the page sends besides the boxes: the version that it is made from, and which boxes there are."""
        page = await self.browser.get(f"/p/{self.token}")
        found = re.search(r'name="version" value="(\d+)"', page.text)
        assert found is not None
        shown = re.findall(r'<input type="hidden" name="shown" value="(\w+:\w+)">', page.text)
        assert shown == re.findall(r'name="hear" value="(\w+:\w+)"', page.text)
        return {"version": found[1], "shown": shown}

    async def version(self) -> str:
        """The version that the page is made from."""
        return str((await self.form())["version"])

    async def save(
        self, *hear: str, version: str | None = None, do: str = "save", form: dict[str, Any] | None = None
    ) -> httpx2.Response:
        """Tick these boxes, and save; by the page as it is now, or by a `form` that was opened before."""
        form = (form or await self.form()) | {"do": do, "hear": list(hear)}
        if version is not None:
            form["version"] = version
        return await self.browser.post(f"/p/{self.token}", data=form)


async def uses(sender: Sender, category: str) -> None:
    """Have the tenant send messages of this category: a page leaves out what it does not send."""
    path = f"/api/v1/templates/{category}_news/sms/versions"
    wish = {
        "semver": "1.0.0",
        "category": category,
        "variables_schema": {"type": "object"},
        "locales": {"en": {"body": "Hello"}},
        "preview_samples": {"usual": {}},
    }
    made = await sender.client.post(path, json=wish)
    if made.status_code == 201:
        assert (await sender.client.post(f"{path}/1.0.0/publish")).status_code == 200


async def visitor(
    world: PipelineWorld, sender: Sender, *, category: str = "reminder", **facts: Any
) -> Visitor:
    """Somebody who got a mail of this category."""
    for used in ("academic", "social", "marketing"):
        await uses(sender, used)
    to = f"laila-{unused()}@example.test"
    phone = facts.pop("phone", None)
    made = await sender.client.post(
        "/api/v1/recipients", json=person(*([to, phone] if phone else [to]), **facts)
    )
    assert made.status_code == 201, made.text
    recipient_id = RecipientId(made.json()["id"])
    if category == "marketing":
        await sender.choose(recipient_id, marketing_consent={"granted": True, "source": "signup_form"})
    await sender.send(recipient=recipient_id, category=category)
    await world.settle()
    [received] = world.received(to)
    return Visitor(
        sender=sender,
        to=to,
        recipient_id=recipient_id,
        token=token_of(received.headers),
        browser=world.http.client(),
    )


def token_of(headers: dict[str, str]) -> str:
    """The token in a mail's List-Unsubscribe."""
    named = {name.lower(): value for name, value in headers.items()}
    found = re.fullmatch(r"<https://tidings\.example/u/([\w-]{54})>", named["list-unsubscribe"])
    assert found is not None, named
    return found[1]
