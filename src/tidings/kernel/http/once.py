"""Answers a request with an `Idempotency-Key` once, and the same way again."""

from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, NewType

import msgspec

from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Answer as HttpAnswer
from tidings.kernel.http.answers import Reply, reply_of
from tidings.kernel.http.asgi import SeenScope, headers
from tidings.kernel.http.bodies import meaning_of
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.requests import CarriesScope, body_of
from tidings.kernel.idempotency import (
    HEADER,
    Idempotency,
    IdempotencyKey,
    StoredAnswer,
    hash_request,
    in_environment,
    parse_key,
)

REPLAYED = "Idempotency-Replayed"


#: The key of a request whose handler heeds it in its own way; None where the caller gave none.
GivenKey = NewType("GivenKey", str)


def idempotency_key(scope: SeenScope) -> GivenKey | None:
    """The key that a request carries."""
    given = headers(scope, b"idempotency-key")
    if len(given) > 1:
        raise BadValueError(HEADER, "is given more than once")
    return GivenKey(parse_key(given[0])) if given else None


@dataclass(slots=True, eq=False, repr=False)
class Once:
    """Does the work of a request once, however often the request is repeated with the same key.

    `status` is kept where the work names none.
    """

    request: CarriesScope
    idempotency: Idempotency
    caller: Caller
    _: KW_ONLY
    status: int

    async def __call__(self, tx: TenantTx | PlatformTx, work: Callable[[], Awaitable[Any]]) -> Reply:
        """Do the work in `tx`, or repeat the answer to the first request with the same key and body."""
        scope = self.request.scope
        key = idempotency_key(scope)
        if key is None:
            return reply_of(await work())
        is_test = self.caller.environment == "test"
        place = f"{scope['method']}:{scope['path']}"
        if self.caller.kind == "operator":
            # What one operator was answered on one device is no answer for another.
            place = f"{self.caller.id}:{self.caller.device_id}:{place}"
        where = in_environment(place, is_test=is_test)[:200]
        meant = meaning_of(self.request, await body_of(self.request))
        digest = hash_request(where.encode(), scope.get("query_string", b""), meant)
        replies: list[Reply] = []

        async def keep() -> StoredAnswer:
            done = await work()
            reply = reply_of(done)
            again = done.again if isinstance(done, HttpAnswer) else None
            kept = reply.body if again is None else msgspec.json.encode(again)
            if not isinstance(kept, bytes):
                raise TypeError("a stream can't be answered once more")
            replies.append(reply)
            return StoredAnswer(reply.status or self.status, kept.decode())

        once = IdempotencyKey(key=key, request_hash=digest)
        answer = await self.idempotency.once(tx, where, once, keep)
        if answer.replayed:
            return Reply(body=answer.response.encode(), status=answer.status, headers={REPLAYED: "true"})
        return replies[0]
