"""Requests that carry an Idempotency-Key are done once, and answered the same way again.

`begin` and `finish` run in the transaction of the work itself: key, work and answer commit together, and a
crash in between leaves nothing behind. Of two requests with one key at the same moment, one works and the
other is told so at once; no request holds a connection waiting. Work that needs several transactions commits
the key after `begin`; if its process dies, the key is free again when the lock has run out.
"""

import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import msgspec

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, PlatformTx, Row, TenantsTx, TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import KeyReusedError, StillInProgressError
from tidings.kernel.sql import Queries

IdempotencySchema = Literal["notification", "bff_backoffice"]
_SCHEMAS: Final[tuple[IdempotencySchema, ...]] = ("notification", "bff_backoffice")
_QUERIES = {schema: Queries.beside(__file__, schema=schema) for schema in _SCHEMAS}

_encode_in_order = msgspec.json.Encoder(order="sorted").encode
#: A float without a fraction, as it is encoded; in a text it costs a second look and changes nothing.
_WHOLE_FLOAT: Final = re.compile(rb"\d(?:\.0|e\+?\d+)\s*[,}\]]")
HEADER: Final = "Idempotency-Key"
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_SCOPE = re.compile(r"[\x21-\x7e]{1,200}")
#: Each key holds a lock until the commit, and the server's lock table is finite.
MOST_KEYS: Final = 1000


@dataclass(frozen=True, slots=True)
class Fresh:
    """No request has done this yet: do it, then `finish`."""


@dataclass(frozen=True, slots=True)
class Replay:
    """It was done: answer this again."""

    status: int
    response: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Conflict:
    """The key was used for another request."""


@dataclass(frozen=True, slots=True)
class InProgress:
    """Another request is doing it right now: try again in a moment."""


Begun: TypeAlias = Fresh | Replay | Conflict | InProgress


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What to replay."""

    #: The status as the edge counts it.
    status: int
    #: The body as it was sent.
    response: str = field(repr=False)
    #: The answer of the first time; nothing was done now.
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotencyKey:
    """The key under which a request is done once, and what tells the request from another one."""

    key: str
    request_hash: str


class ScopedKey(NamedTuple):
    """A key, and what it is unique within."""

    #: None: the platform's own.
    tenant_id: TenantId | None
    scope: str
    key: str


def refusal_of(begun: Begun) -> KeyReusedError | StillInProgressError | None:
    """Why a request with this key is refused; None where it is done, now or before."""
    match begun:
        case Conflict():
            return KeyReusedError()
        case InProgress():
            return StillInProgressError()
    return None


def parse_key(text: str) -> str:
    """The key as it may be stored; a `BadValueError` naming the header where it is none."""
    if not _KEY.fullmatch(text):
        raise BadValueError(HEADER, "must be 1 to 255 visible ASCII characters, without spaces")
    return text


def in_environment(scope: str, *, is_test: bool) -> str:
    """The scope of a test caller's keys: what they did is no answer to a live caller, nor the other way round."""
    return f"test:{scope}" if is_test else scope


def hash_request(*parts: bytes) -> str:
    """What tells two requests with one key apart: method and path, body, whatever else matters."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return "sha256:" + digest.hexdigest()


def canonical(value: Any) -> bytes:
    """What a request means, whatever the order of its keys, its blanks and how its numbers are spelt.

    `value` is the decoded body: a field that was left out and one with its default are the same.
    """
    text = _encode_in_order(value)
    if not _WHOLE_FLOAT.search(text):
        return text
    try:
        return _encode_in_order(_whole_numbers(msgspec.json.decode(text)))
    except RecursionError:
        # Nested deeper than we follow: it means what it says.
        return text


def _whole_numbers(value: Any) -> Any:
    """1.0 and 1e0 are 1."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole_numbers(item) for item in value]
    if isinstance(value, dict):
        return {key: _whole_numbers(item) for key, item in value.items()}
    return value


class Idempotency:
    """The keys of one schema."""

    def __init__(
        self,
        schema: IdempotencySchema,
        clock: Clock,
        *,
        kept_for: timedelta = timedelta(hours=24),
        locked_for: timedelta = timedelta(minutes=1),
    ) -> None:
        self._queries = _QUERIES[schema]
        self._clock = clock
        self._kept_for = kept_for
        self._locked_for = locked_for

    async def once(
        self,
        tx: TenantTx | PlatformTx,
        scope: str,
        once: IdempotencyKey,
        work: Callable[[], Awaitable[StoredAnswer]],
    ) -> StoredAnswer:
        """Do the work in `tx` and keep its answer, or replay the answer of the first time; refused while that is under way."""
        begun = await self.begin(tx, scope, once.key, once.request_hash)
        if isinstance(begun, Replay):
            return StoredAnswer(begun.status, begun.response, replayed=True)
        if (refusal := refusal_of(begun)) is not None:
            raise refusal
        answer = await work()
        await self.finish(tx, scope, once.key, answer)
        return answer

    async def begin(self, tx: TenantTx | PlatformTx, scope: str, key: str, request_hash: str) -> Begun:
        """Whether to do the work; `scope` is what the key is unique within, such as the route."""
        return (await self.begin_many(tx, [(ScopedKey(_tenant_of(tx), scope, key), request_hash)]))[0]

    async def begin_many(
        self, tx: TenantTx | TenantsTx | PlatformTx, requests: Sequence[tuple[ScopedKey, str]]
    ) -> list[Begun]:
        """The same for many keys; one that is named twice is fresh only once."""
        if len(requests) > MOST_KEYS:
            raise ValueError(f"at most {MOST_KEYS} keys at once, got {len(requests)}")
        hashes: dict[ScopedKey, str] = {}
        for key, request_hash in requests:
            if not _SCOPE.fullmatch(key.scope):
                raise BadValueError("scope", "must be 1 to 200 visible ASCII characters")
            parse_key(key.key)
            hashes.setdefault(key, request_hash)
        known = await self._look_up(tx, hashes)
        begun: list[Begun] = []
        taken: set[ScopedKey] = set()
        for key, request_hash in requests:
            if known[key] == _OURS and key not in taken:
                taken.add(key)
                begun.append(Fresh())
            else:
                begun.append(_outcome(known[key], request_hash, first_hash=hashes[key]))
        return begun

    async def find(self, tx: TenantTx | PlatformTx, scope: str, key: str, request_hash: str) -> Replay | None:
        """What was answered to this request; None where it was never done. Nothing is begun."""
        rows = await tx.fetch(self._queries.read_answers, **_columns([ScopedKey(_tenant_of(tx), scope, key)]))
        if not rows or rows[0]["state"] != "done" or rows[0]["expires_at"] <= self._clock.now():
            return None
        if rows[0]["request_hash"] != request_hash:
            raise KeyReusedError
        return Replay(rows[0]["status"], rows[0]["response"])

    async def finish(self, tx: TenantTx | PlatformTx, scope: str, key: str, answer: StoredAnswer) -> None:
        """Keep the answer for the next request with this key."""
        await self.finish_many(tx, {ScopedKey(_tenant_of(tx), scope, key): answer})

    async def finish_many(
        self, tx: TenantTx | TenantsTx | PlatformTx, answers: Mapping[ScopedKey, StoredAnswer]
    ) -> None:
        """The same for many."""
        columns: dict[str, Any] = {
            **_columns(answers),
            "statuses": [answer.status for answer in answers.values()],
            "responses": [answer.response for answer in answers.values()],
        }
        query = self._queries.finish_requests
        if isinstance(tx, PlatformTx):
            query = self._queries.finish_platform_requests
            del columns["tenant_ids"]
        finished = await tx.execute(query, **columns)
        if finished != len(answers):
            raise RuntimeError(f"{len(answers) - finished} of {len(answers)} keys were not begun")

    async def release_many(self, tx: TenantTx | TenantsTx, keys: Sequence[ScopedKey]) -> None:
        """Give keys back whose work was refused: the next request, mended or not, begins anew."""
        await tx.execute(self._queries.release_requests, now=self._clock.now(), **_columns(keys))

    async def sweep(self, db: Database, *, limit: int = 5000) -> int:
        """Remove about so many expired keys; how many went."""
        async with db.worker() as tx:
            return await tx.execute(self._queries.sweep_expired, now=self._clock.now(), limit=limit)

    async def _look_up(
        self, tx: TenantTx | TenantsTx | PlatformTx, hashes: Mapping[ScopedKey, str]
    ) -> "dict[ScopedKey, _Known]":
        if not hashes:
            return {}
        now = self._clock.now()
        rows = await tx.fetch(
            self._queries.begin_requests,
            request_hashes=list(hashes.values()),
            now=now,
            locked_until=now + self._locked_for,
            expires_at=now + self._kept_for,
            **_columns(hashes),
        )
        known: dict[ScopedKey, _Known] = {_key_of(row): _OURS if row["fresh"] else _THEIRS for row in rows}
        settled = [_key_of(row) for row in rows if row["locked"] and not row["fresh"]]
        if settled:
            found = await tx.fetch(self._queries.read_answers, **_columns(settled))
            known |= {_key_of(row): row for row in found}
        return known


def _columns(keys: Iterable[ScopedKey]) -> dict[str, list[Any]]:
    tenant_ids, scopes, names = zip(*keys, strict=True)
    return {"tenant_ids": list(tenant_ids), "scopes": list(scopes), "keys": list(names)}


def _key_of(row: Row) -> ScopedKey:
    return ScopedKey(row["tenant_id"], row["scope"], row["key"])


_OURS: Final = "ours"
_THEIRS: Final = "theirs"
#: Begun by this call, being worked on by another transaction, or the row that was found.
_Known: TypeAlias = Literal["ours", "theirs"] | Row


def _outcome(known: _Known, request_hash: str, *, first_hash: str) -> Begun:
    if known == _THEIRS:
        return InProgress()
    if known == _OURS:
        # An earlier request of the same call has the work.
        return InProgress() if request_hash == first_hash else Conflict()
    if known["request_hash"] != request_hash:
        return Conflict()
    return Replay(known["status"], known["response"]) if known["state"] == "done" else InProgress()


def _tenant_of(tx: TenantTx | PlatformTx) -> TenantId | None:
    return tx.tenant_id if isinstance(tx, TenantTx) else None
