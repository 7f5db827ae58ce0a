"""The client of the upstream services: a deadline, retries of reads, a circuit and a bound for each service and tenant."""

import asyncio
import math
import re
from collections import OrderedDict
from collections.abc import Mapping
from datetime import timedelta
from random import Random
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from tidings.backoffice.metrics import BackofficeMetrics
from tidings.backoffice.upstreams.answer import UpstreamAnswer
from tidings.backoffice.upstreams.circuit import UpstreamCircuit
from tidings.backoffice.upstreams.errors import AwayReason, UpstreamAwayError, UpstreamNotConnectedError
from tidings.backoffice.upstreams.names import UPSTREAMS, UpstreamName
from tidings.backoffice.upstreams.places import UpstreamPlaces
from tidings.kernel.clock import Clock
from tidings.kernel.durable.retry_policy import RetryPolicy
from tidings.kernel.egress import anywhere
from tidings.kernel.errors import TidingsError
from tidings.kernel.http_client.answer import HttpAnswer, failure_of
from tidings.kernel.http_client.pool import HttpPool, HttpRequest
from tidings.kernel.ids import IdKind, TenantId
from tidings.kernel.logs import get_logger
from tidings.kernel.secrets import SecretResolver
from tidings.kernel.tracing import current_traceparent
from tidings.kernel.ttl_cache import TtlCache

T = TypeVar("T")

_log = get_logger("upstreams")
#: Of a request to an upstream service: its logs and our audit have it.
UPSTREAM_REQUEST: Final = IdKind("ureq", str)
_READS: Final = frozenset({"GET", "HEAD"})
_RETRY: Final = RetryPolicy(max_attempts=3, first_delay=timedelta(milliseconds=50), factor=3.0)
#: Calls of one tenant to one service at the same time: a service that hangs takes no more of us.
_MOST_AT_ONCE: Final = 16
_CONNECTIONS: Final = 64
#: A board of the largest house that the contract knows has room.
_MOST_ANSWER_BYTES: Final = 2 * 1024 * 1024
_MOST_CIRCUITS: Final = 20_000
#: How long a token is used before its secret is read again.
_TOKEN_KEPT: Final = timedelta(seconds=30)
_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_UNSURE: Final[frozenset[AwayReason]] = frozenset({"connection", "broken_off", "error"})


def at(path: str, *values: str) -> str:
    """A path with values in its `{}`: whatever they hold, they stay one step of it."""
    return path.format(*(quote(value, safe="") for value in values))


class Upstreams:
    """Calls the services whose addresses are set. It follows no redirects, and reads 2 MB of an answer at most."""

    def __init__(
        self, places: UpstreamPlaces, secrets: SecretResolver, clock: Clock, metrics: BackofficeMetrics
    ) -> None:
        self._places = places
        self._secrets = secrets
        self._clock = clock
        self._metrics = metrics
        self._random = Random()  # noqa: S311  # a jitter is no secret
        self._circuits: OrderedDict[tuple[UpstreamName, TenantId], UpstreamCircuit] = OrderedDict()
        self._under_way: dict[tuple[UpstreamName, TenantId], int] = {}
        self._tokens: TtlCache[str, str] = TtlCache(clock=clock, ttl=_TOKEN_KEPT, size=16)
        #: Each service has connections of its own: one that hangs takes none of the others'.
        self._pools = {name: _pool() for name in UPSTREAMS}

    def connected(self, name: UpstreamName) -> bool:
        """Whether an address of it is set."""
        return name in self._places.urls

    async def read(
        self,
        kind: type[T],
        name: UpstreamName,
        path: str,
        *,
        tenant_id: TenantId,
        query: Mapping[str, str] | None = None,
        deadline: timedelta | None = None,
    ) -> T | None:
        """What is at a path, as the contract has it; None where there is nothing."""
        answer = await self.call(name, "GET", path, tenant_id=tenant_id, query=query, deadline=deadline)
        if answer.status == 404:
            return None
        if answer.status != 200:
            raise self._uncalled(name, tenant_id, "refused")
        try:
            return answer.read(kind)
        except UpstreamAwayError:
            raise self._uncalled(name, tenant_id, "schema") from None

    async def call(
        self,
        name: UpstreamName,
        method: str,
        path: str,
        *,
        tenant_id: TenantId,
        body: Any = None,
        query: Mapping[str, str] | None = None,
        deadline: timedelta | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
    ) -> UpstreamAnswer:
        """One request, and for reads its retries, within the deadline (`TIDINGS_UPSTREAM_TIMEOUT`, unless it is given).

        A status below 500 is an answer, but for 3xx, 401 and 429. Everything else is an `UpstreamAwayError`, whose `was_asked` says
        whether a write may have had its effect. No transaction may be open around it.
        """
        base = self._places.urls.get(name)
        if base is None:
            raise UpstreamNotConnectedError(name)
        key = name, tenant_id
        if self._under_way.get(key, 0) >= _MOST_AT_ONCE:
            raise self._uncalled(name, tenant_id, "busy")
        circuit = self._circuit(key)
        was = circuit.state
        if not circuit.lets_pass(self._clock.monotonic()):
            raise self._uncalled(name, tenant_id, "circuit_open")
        self._note_state(name, was, circuit)
        self._under_way[key] = self._under_way.get(key, 0) + 1
        try:
            request_id = UPSTREAM_REQUEST.new(self._clock.now())
            request = HttpRequest(
                method=method,
                url=f"{base.rstrip('/')}{path}" + (f"?{urlencode(query)}" if query else ""),
                headers=await self._headers(
                    name, tenant_id, request_id, body=body, idempotency_key=idempotency_key, if_match=if_match
                ),
                body=None if body is None else msgspec.json.encode(body),
            )
            return await self._ask(key, request, request_id, deadline or self._places.timeout)
        finally:
            self._under_way[key] -= 1
            if not self._under_way[key]:
                del self._under_way[key]

    async def close(self) -> None:
        """End all connections."""
        for pool in self._pools.values():
            await pool.close()

    async def _ask(
        self, key: tuple[UpstreamName, TenantId], request: HttpRequest, request_id: str, deadline: timedelta
    ) -> UpstreamAnswer:
        name, tenant_id = key
        loop = asyncio.get_running_loop()
        began = loop.time()
        ends = began + deadline.total_seconds()
        attempts = 0
        while True:
            set_off = loop.time()
            found = await self._attempt(name, request, within=ends - set_off)
            attempts += 1
            if isinstance(found, HttpAnswer):
                self._succeeded(key, loop.time() - set_off)
                return UpstreamAnswer(
                    upstream=name,
                    status=found.status,
                    content=found.content,
                    request_id=_id_in(found) or request_id,
                    latency_ms=math.ceil((loop.time() - set_off) * 1000),
                    headers=found.headers,
                )
            self._failed(key, found, loop.time() - set_off)
            wait = _RETRY.next_delay(attempts, self._random.random())
            again = request.method in _READS and found in _UNSURE and wait is not None
            if not again or wait is None or loop.time() + wait.total_seconds() >= ends:
                break
            # By the machine's clock, as the deadline is.
            await asyncio.sleep(wait.total_seconds())
            if not self._circuit(key).lets_pass(self._clock.monotonic()):
                break
        raise self._away(name, tenant_id, found)

    async def _attempt(
        self, name: UpstreamName, request: HttpRequest, *, within: float
    ) -> HttpAnswer | AwayReason:
        try:
            answer = await self._pools[name].ask(request, within=within)
        except Exception as error:  # noqa: BLE001  # whatever the service makes the library do
            match failure_of(error):
                case "address" | "certificate" | "tls" | "connection" | "url":
                    return "connection"
                case "timeout":
                    return "timeout"
                case _:
                    return "broken_off"
        if answer.status == 401:
            return "refused"
        return (
            "error" if answer.status >= 500 or 300 <= answer.status < 400 or answer.status == 429 else answer
        )

    async def _headers(
        self,
        name: UpstreamName,
        tenant_id: TenantId,
        request_id: str,
        *,
        body: Any,
        idempotency_key: str | None,
        if_match: str | None,
    ) -> dict[str, str]:
        headers = {"Accept": "application/json", "X-Tenant-Id": tenant_id, "X-Request-Id": request_id}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        if if_match is not None:
            headers["If-Match"] = if_match
        traceparent = current_traceparent()
        if traceparent is not None:
            headers["traceparent"] = traceparent
        reference = self._places.token_ref_of(name)
        if reference is not None:
            try:
                token = await self._tokens.get_or_fetch(reference, self._read_token)
            except TidingsError as error:
                _log.warning("upstream_token_missing", upstream=name, code=error.code)
                raise self._uncalled(name, tenant_id, "refused") from None
            headers["Authorization"] = f"Bearer {token}"
        return headers

    async def _read_token(self, reference: str) -> str:
        return (await self._secrets.resolve(reference, field="TIDINGS_UPSTREAM_TOKEN_REF")).reveal().strip()

    def _circuit(self, key: tuple[UpstreamName, TenantId]) -> UpstreamCircuit:
        circuit = self._circuits.get(key)
        if circuit is None:
            circuit = self._circuits[key] = UpstreamCircuit()
            if len(self._circuits) > _MOST_CIRCUITS:
                (name, _), gone = self._circuits.popitem(last=False)
                if gone.state != "closed":
                    self._metrics.upstream_circuits.labels(name).dec()
        self._circuits.move_to_end(key)
        return circuit

    def _succeeded(self, key: tuple[UpstreamName, TenantId], seconds: float) -> None:
        circuit = self._circuit(key)
        was = circuit.state
        circuit.succeeded(self._clock.monotonic())
        self._note_state(key[0], was, circuit)
        self._metrics.upstream_calls.labels(key[0], "answered").inc()
        self._metrics.upstream_seconds.labels(key[0]).observe(seconds)

    def _failed(self, key: tuple[UpstreamName, TenantId], reason: AwayReason, seconds: float) -> None:
        circuit = self._circuit(key)
        was = circuit.state
        circuit.failed(self._clock.monotonic(), self._clock.now(), self._random.random)
        self._note_state(key[0], was, circuit)
        self._metrics.upstream_calls.labels(key[0], reason).inc()
        self._metrics.upstream_seconds.labels(key[0]).observe(seconds)

    def _note_state(self, name: UpstreamName, was: str, circuit: UpstreamCircuit) -> None:
        if circuit.state == was:
            return
        if "closed" in (was, circuit.state):
            self._metrics.upstream_circuits.labels(name).inc(1 if was == "closed" else -1)
        _log.info("upstream_circuit", upstream=name, state=circuit.state)

    def _uncalled(self, name: UpstreamName, tenant_id: TenantId, reason: AwayReason) -> UpstreamAwayError:
        """The same for what no attempt has counted: nothing was asked, or what was answered is of no use."""
        self._metrics.upstream_calls.labels(name, reason).inc()
        return self._away(name, tenant_id, reason)

    def _away(self, name: UpstreamName, tenant_id: TenantId, reason: AwayReason) -> UpstreamAwayError:
        since = self._circuit((name, tenant_id)).failing_since
        return UpstreamAwayError(name, reason, since=since or self._clock.now())


def _pool() -> HttpPool:
    # Whoever runs Tidings has chosen these addresses; tenants have no say in them.
    return HttpPool(
        guard=anywhere,
        connections=_CONNECTIONS,
        connect_seconds=1.0,
        timeout_seconds=30.0,
        most_answer_bytes=_MOST_ANSWER_BYTES,
    )


def _id_in(answer: HttpAnswer) -> str | None:
    """What the service calls the request, where it is an id that can be kept."""
    text = answer.headers.get("X-Request-Id", "")
    return text if _ID.fullmatch(text) else None
