"""Every call of the API: method, path, body, and how its answer is read. No network here; both clients send these."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache
from typing import Any, Generic, TypedDict, TypeVar
from urllib.parse import quote

import msgspec

from tidings_client.errors import ClientError, StrangeAnswerError, error_of
from tidings_client.results import (
    Explanation,
    Problem,
)
from tidings_client.retrying import seconds_of

T = TypeVar("T")

_HOME = "/api/v1/notifications"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[T]):
    """One request, and how its answer is read."""

    method: str
    path: str
    read: Callable[[bytes], T]
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = field(default=None, repr=False)
    #: The same for every repeat.
    key: str | None = None
    #: What the body is.
    media_type: str = "application/json"
    #: What the answer is to be, where that is not JSON.
    accept: str | None = None
    #: The version that a change is made from, as an ETag.
    if_match: str | None = None
    #: Whether it only reads, though it is a POST.
    safe: bool = False

    @property
    def repeatable(self) -> bool:
        """Whether doing it twice is the same as doing it once: a POST is, where it carries a key or only reads."""
        return self.method != "POST" or self.key is not None or self.safe

    @property
    def headers(self) -> dict[str, str]:
        """Those that belong to this call."""
        found = {"content-type": self.media_type} if self.body is not None else {}
        found |= {"accept": self.accept} if self.accept is not None else {}
        found |= {"if-match": self.if_match} if self.if_match is not None else {}
        return {**found, "idempotency-key": self.key} if self.key is not None else found


class Filter(TypedDict, total=False):
    """Which notifications are wanted."""

    status: str | None
    channel: str | None
    category: str | None
    #: `rcp_…`
    recipient: str | None
    template: str | None
    correlation_id: str | None
    since: datetime | None
    until: datetime | None
    #: One value of searchable metadata, by its name.
    metadata: Mapping[str, str] | None


def get(path: str, kind: type[T], **query: object) -> Call[T]:
    """A GET below `/api/v1/notifications`."""
    return Call(method="GET", path=f"{_HOME}{path}", read=reader(kind), query=query_texts(query))


def post(
    path: str, kind: type[T], content: object = None, *, key: str | None = None, safe: bool = False
) -> Call[T]:
    """A POST below `/api/v1/notifications`."""
    body = None if content is None else msgspec.json.encode(content)
    return Call(method="POST", path=f"{_HOME}{path}", read=reader(kind), body=body, key=key, safe=safe)


def explain(notification_id: str) -> Call[Explanation]:
    """The explanation of a notification, with the facts of its timeline."""
    path = f"{_HOME}{one(notification_id)}/explain"
    return Call(method="GET", path=path, read=_read_explanation)


def one(notification_id: str) -> str:
    """The path of a notification below `/api/v1/notifications`."""
    return f"/{quote(notification_id, safe='')}"


def new_key() -> str:
    """A new Idempotency-Key."""
    return uuid.uuid4().hex


def query_texts(given: Mapping[str, object]) -> dict[str, str]:
    """Query parameters as texts; None is left out, and a mapping is written `name.key=value`."""
    texts: dict[str, str] = {}
    for name, value in given.items():
        if isinstance(value, Mapping):
            texts |= {f"{name}.{key}": str(one) for key, one in value.items()}
        elif value is not None:
            texts[name] = _text(value)
    return texts


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date | datetime) else str(value)


def reader(kind: Any) -> Any:
    """How an answer of that type is read: JSON, bytes as they are, or nothing where the answer is empty."""
    if kind is type(None):
        return lambda _: None
    return bytes if kind is bytes else _decoder(kind).decode


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def answer(call: Call[T], status: int, raw: bytes, headers: Mapping[str, str]) -> T:
    """The result of a call, or the exception that its answer means."""
    if 200 <= status < 300:
        try:
            return call.read(raw)
        except (msgspec.MsgspecError, UnicodeError, TypeError, KeyError):
            raise _strange(status) from None
    raise failure(status, raw, headers)


def failure(status: int, raw: bytes, headers: Mapping[str, str]) -> ClientError:
    """The exception for an answer that is no success."""
    try:
        problem = msgspec.json.decode(raw, type=Problem)
    except (msgspec.MsgspecError, UnicodeError):
        return _strange(status)
    return error_of(problem, retry_after=seconds_of(headers.get("retry-after")))


def _strange(status: int) -> StrangeAnswerError:
    return StrangeAnswerError(
        f"HTTP {status} with an answer that is not of the Tidings API; is this the right address?",
        status=status,
    )


def _read_explanation(raw: bytes) -> Explanation:
    found = msgspec.json.decode(raw, type=dict[str, Any])
    told = dict(found)
    told["timeline"] = [
        {"at": line["at"], "kind": line["kind"], "facts": _without(line, "at", "kind")}
        for line in found.get("timeline", ())
    ]
    return msgspec.convert({**told, "raw": found}, Explanation)


def _without(line: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name not in names}
