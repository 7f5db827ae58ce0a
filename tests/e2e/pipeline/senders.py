"""Clients that want every notification accepted, whatever happens to the server meanwhile."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator

from bench.house import Resident
from bench.load import Connection, request

ORDER = {
    "order_number": "A-1001",
    "total": {"amount_micros": 42_500_000, "currency": "USD"},
    "items": [{"name": "Green tea", "quantity": 2}],
}
PATH = "/api/v1/notifications"
_BROKEN = (OSError, asyncio.IncompleteReadError)


def order_for(name: str, **more: object) -> dict[str, object]:
    """The request for a mail to a guest."""
    return {
        "recipient": {
            "identity": {"type": "guest", "id": f"g-{name}"},
            "display_name": "Laila",
            "addresses": [{"channel": "email", "address": f"{name}@example.test"}],
        },
        "template": "order_confirmation",
        "channel": "email",
        "variables": ORDER,
    } | more


class Senders:
    """Repeats whatever was not answered, with the same Idempotency-Key."""

    def __init__(self, base_url: str, resident: Resident, *, count: int, clients: int = 16) -> None:
        self._base_url = base_url
        self._resident = resident
        self._count = count
        self._clients = clients
        #: Ids that were answered with 202, by number.
        self.accepted: dict[int, str] = {}
        #: Answers that were no success, and connections that broke.
        self.refusals: Counter[str] = Counter()

    async def send_all(self) -> None:
        """Until every one of them is accepted."""
        numbers = iter(range(self._count))
        await asyncio.gather(*(self._client(numbers) for _ in range(self._clients)))

    async def _client(self, numbers: Iterator[int]) -> None:
        connection: Connection | None = None
        for number in numbers:
            wire = self._wire(number)
            while True:
                try:
                    connection = connection or await Connection.open(self._base_url)
                    async with asyncio.timeout(60):
                        status, body = await connection.ask(wire)
                except _BROKEN as error:
                    self.refusals[type(error).__name__] += 1
                    connection = None
                    await asyncio.sleep(0.05)
                    continue
                if status == 202:
                    self.accepted[number] = json.loads(body)["id"]
                    break
                self.refusals[str(status)] += 1
                assert status in (429, 503), body
                await asyncio.sleep(0.05)
        if connection is not None:
            connection.close()

    def _wire(self, number: int) -> bytes:
        body = json.dumps(order_for(f"p{number}")).encode()
        plain = request(self._base_url, PATH, self._resident.api_key, body)
        return plain.replace(b"\r\nContent-Type:", b"\r\nIdempotency-Key: k-%d\r\nContent-Type:" % number, 1)
