"""Answers a request with an `Idempotency-Key` once, and the same way again."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
from litestar import Request, Response

from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.asgi import headers
from tidings.kernel.http.bodies import body_of, meaning_of
from tidings.kernel.http.callers import caller_of
from tidings.kernel.http.errors import KeyReusedError, StillInProgressError
from tidings.kernel.idempotency import (
    HEADER,
    Answer,
    Conflict,
    Idempotency,
    InProgress,
    Replay,
    hash_request,
    in_environment,
    parse_key,
)

REPLAYED = "Idempotency-Replayed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What came of the work."""

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)
    #: What to answer the second time, where the first answer holds a secret that is not kept.
    again: Any = None


async def answer_once(
    request: "Request[Any, Any, Any]",
    tx: TenantTx | PlatformTx,
    idempotency: Idempotency,
    work: Callable[[], Awaitable[Done]],
) -> Response[bytes]:
    """Do the work in `tx`, or repeat the answer to the first request with the same key and body."""
    scope = request.scope
    given = headers(scope, b"idempotency-key")
    if not given:
        return _response(await work())
    if len(given) > 1:
        raise BadValueError(HEADER, "is given more than once")
    key = parse_key(given[0])
    is_test = caller_of(request).environment == "test"
    where = in_environment(f"{scope['method']}:{scope['path']}", is_test=is_test)[:200]
    meant = meaning_of(request, await body_of(request))
    digest = hash_request(where.encode(), scope.get("query_string", b""), meant)
    match await idempotency.begin(tx, where, key, digest):
        case Replay(status, response):
            return Response(
                response.encode(),
                status_code=status,
                media_type="application/json",
                headers={REPLAYED: "true"},
            )
        case Conflict():
            raise KeyReusedError
        case InProgress():
            raise StillInProgressError
    done = await work()
    kept = msgspec.json.encode(done.body if done.again is None else done.again).decode()
    await idempotency.finish(tx, where, key, Answer(done.status, kept))
    return _response(done)


def _response(done: Done) -> Response[bytes]:
    return Response(
        msgspec.json.encode(done.body),
        status_code=done.status,
        media_type="application/json",
        headers=done.headers,
    )
