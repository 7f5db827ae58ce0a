"""People, and batches for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx2

from tests.support.people import unused
from tests.support.pipeline import ORDERED, PipelineWorld, Sender
from tidings.kernel.ids import TenantId
from tidings.notify.recipients.model import IdentityType
from tidings.notify.recipients.recipient_input import AddressInput, IdentityInput, RecipientInput, spec_of
from tidings.notify.recipients.upsert import UpsertResult

HOME = "/api/v1/batches"


async def crowd(
    world: PipelineWorld, tenant_id: TenantId, count: int, *, domain: str = "example.test", **facts: Any
) -> list[str]:
    """So many people with a mail address each; their ids."""
    word = unused()
    specs = [
        spec_of(
            RecipientInput(
                identity=IdentityInput(type=IdentityType.GUEST, id=f"{word}-{number}"),
                addresses=[AddressInput(channel="email", address=f"{word}-{number}@{domain}")],
                **facts,
            )
        )
        for number in range(count)
    ]
    made: list[str] = []
    for start in range(0, count, 1000):
        async with world.db.tenant(tenant_id) as tx:
            done = await world.system.accept.upserter.upsert(tx, specs[start : start + 1000])
        made += [result.recipient.id for result in done.results if isinstance(result, UpsertResult)]
    return made


def wish(**other: Any) -> dict[str, Any]:
    """A batch that is accepted, for all who are tagged `vip`."""
    return {
        "name": "Spring",
        "template": "order_confirmation",
        "channel": "email",
        "filter": "tag = 'vip'",
        "variables": ORDERED,
    } | other


@dataclass(frozen=True, slots=True)
class Written:
    """A batch of a sender's."""

    sender: Sender
    id: str

    async def post(self, verb: str, **body: Any) -> httpx2.Response:
        """`POST …/{id}/{verb}`."""
        path = f"{HOME}/{self.id}/{verb}"
        return await (self.sender.client.post(path, json=body) if body else self.sender.client.post(path))

    async def do(self, verb: str, **body: Any) -> dict[str, Any]:
        """The same, which is answered."""
        answer = await self.post(verb, **body)
        assert answer.status_code < 300, answer.text
        done: dict[str, Any] = answer.json()
        return done

    async def show(self) -> dict[str, Any]:
        """`GET …/{id}`."""
        return await self.get("")

    async def totals(self) -> dict[str, int]:
        """Those that are not nothing."""
        totals: dict[str, int] = (await self.show())["totals"]
        return {name: n for name, n in totals.items() if n}

    async def get(self, path: str, **query: Any) -> dict[str, Any]:
        """`GET …/{id}{path}`."""
        answer = await self.sender.client.get(f"{HOME}/{self.id}{path}", params=query)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def people(self, **query: Any) -> list[dict[str, Any]]:
        """All lines of its ledger."""
        lines: list[dict[str, Any]] = []
        cursor: dict[str, Any] = {}
        while True:
            page = await self.get("/people", limit=200, **query, **cursor)
            lines += page["items"]
            if page["next_cursor"] is None:
                return lines
            cursor = {"cursor": page["next_cursor"]}


async def write(sender: Sender, **other: Any) -> Written:
    """A draft."""
    answer = await sender.client.post(HOME, json=wish(**other))
    assert answer.status_code == 201, answer.text
    return Written(sender, answer.json()["id"])


async def received(world: PipelineWorld, ids: Sequence[str]) -> dict[str, int]:
    """How often the vendor got something for each of the notifications."""
    return {id_: sum(id_ in str(message) for message in world.sandbox.store.find()) for id_ in ids}
