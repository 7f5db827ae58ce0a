"""Every operation of the API by its name, as the OpenAPI document has it, with answers as they come: for commands and scripts.

Programs use the typed methods instead: `tidings.status_map.list()`.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct

from tidings_client.calls import Call, new_key, query_texts
from tidings_client.namespaces import segment


class ApiParameter(Struct, frozen=True, kw_only=True):
    """A query parameter, or a field of a body."""

    name: str
    #: `string`, `integer`, `number`, `boolean`, `array`, `object`, or `any` of them.
    type: str
    #: What an array holds, or the values of an object are.
    of: str = "any"
    #: `date-time` or `date`.
    format: str = ""
    choices: tuple[Any, ...] = ()
    about: str = ""
    required: bool = False
    default: Any = None


class ApiOperation(Struct, frozen=True, kw_only=True):
    """What there is to know of an operation in order to call it."""

    id: str
    #: Such as `status-map`, and `list`, `put` or `revert`.
    resource: str
    verb: str
    method: str
    path: str
    about: str
    query: tuple[ApiParameter, ...] = ()
    body: tuple[ApiParameter, ...] = ()
    #: What the body may be, where it is a file.
    files: tuple[str, ...] = ()
    #: The media type of the answer; None where it is empty.
    answer: str | None = None
    #: Whether it answers page by page.
    pages: bool = False
    #: Whether a change has to name the version that it is made from; None where it can't.
    if_match: bool | None = None
    #: Whether it takes an Idempotency-Key.
    keyed: bool = False
    #: Whether it only reads, though it is a POST.
    safe: bool = False


@cache
def table() -> dict[str, ApiOperation]:
    """All of them by their names; `make client` writes the file."""
    raw = (Path(__file__).parent / "api" / "operations.json").read_bytes()
    return {one.id: one for one in msgspec.json.decode(raw, type=list[ApiOperation])}


@cache
def twin(operation_id: str) -> ApiOperation | None:
    """The same operation for what is the platform's own, where there is one."""
    one = table()[operation_id]
    path = one.path.replace("/api/v1/", "/internal/v1/", 1)
    return next(
        (other for other in table().values() if (other.method, other.path) == (one.method, path)), None
    )


def call(
    operation_id: str,
    *path: object,
    query: Mapping[str, object] | None = None,
    body: object = None,
    if_match: int | None = None,
    key: str | None = None,
    media_type: str = "application/json",
    accept: str | None = None,
    platform: bool = False,
) -> Call[Any]:
    """A call of an operation, for `Tidings.call`: an object as it came, or bytes where the answer is no JSON.

    `media_type` is that of a file, which is the body as it is; `accept` wishes for another answer than the usual one.
    """
    one = (twin(operation_id) if platform else None) or table()[operation_id]
    answer = accept or one.answer or "application/json"
    return Call(
        method=one.method,
        path=_filled(one, path),
        read=_read if answer == "application/json" else bytes,
        query=query_texts(query or {}),
        body=body if body is None or isinstance(body, bytes) else msgspec.json.encode(body),
        key=(key or new_key()) if one.keyed else None,
        media_type=media_type,
        accept=None if answer == "application/json" else answer,
        if_match=None if if_match is None else f'"v{if_match}"',
        safe=one.safe,
    )


def _filled(one: ApiOperation, values: tuple[object, ...]) -> str:
    given = iter(values)
    parts = one.path.split("/")
    # Codes of vendors may have a slash, which no path can carry: the API takes `~` for one.
    slash = "~" if one.resource == "status-map" else "/"
    filled = [
        segment(str(next(given)), slash=slash) if part.startswith("{") else quote(part) for part in parts
    ]
    return "/".join(filled)


def _read(raw: bytes) -> Any:
    return msgspec.json.decode(raw) if raw else {}
