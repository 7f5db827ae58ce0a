"""Reads what a request brings: bodies up to a limit, strictly typed; query parameters likewise.

Unknown fields and parameters are refused by name. Texts with a zero character are refused too: Postgres
can't hold them.
"""

from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
from litestar import Request

from tidings.kernel.http.asgi import App, Message, Receive, Scope, Send, header, respond
from tidings.kernel.http.errors import BodyTooLargeError, MalformedBodyError, WrongContentTypeError
from tidings.kernel.http.explain import explain
from tidings.kernel.http.problems import MEDIA_TYPE, answer
from tidings.kernel.http.request_ids import request_id_of
from tidings.kernel.refusals import FieldError, InvalidError

DEFAULT_LIMIT = 1024 * 1024
_NUL = "\x00"

T = TypeVar("T")
_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}


class BodyLimit:
    """Stops a body that is too long: by its announced length, or while it is still arriving."""

    def __init__(
        self, app: App, *, limit: int = DEFAULT_LIMIT, by_path: Mapping[str, int] | None = None
    ) -> None:
        self._app = app
        self._limit = limit
        self._by_path = dict(by_path or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._by_path.get(scope["path"], self._limit)
        announced = header(scope, b"content-length")
        if announced is not None and announced.isdigit() and int(announced) > limit:
            problem = answer(BodyTooLargeError(limit), path=scope["path"], request_id=request_id_of(scope))
            # The rest of the body is on its way and nobody will read it: this connection is done.
            extra = (*problem.headers, ("connection", "close"))
            await respond(send, problem.status, problem.body, media_type=MEDIA_TYPE, extra=extra)
            return
        seen = 0

        async def receive_up_to_limit() -> Message:
            nonlocal seen
            message = await receive()
            if message["type"] == "http.request":
                seen += len(message.get("body", b""))
                if seen > limit:
                    raise BodyTooLargeError(limit)
            return message

        await self._app(scope, receive_up_to_limit, send)


async def read_body(request: "Request[Any, Any, Any]", wanted: type[T]) -> T:
    """The body as a `wanted`; an error that names every wrong field where it is none."""
    require_json(header(request.scope, b"content-type"))
    return decode(await request.body(), wanted)


def require_json(content_type: str | None) -> None:
    """Refuse a body that does not say it is JSON."""
    kind = (content_type or "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise WrongContentTypeError


def decode(body: bytes, wanted: type[T]) -> T:
    """The JSON in `body` as a `wanted`, strictly: no coercion, no unknown fields."""
    decoder = _decoders.get(wanted)
    if decoder is None:
        decoder = _decoders[wanted] = msgspec.json.Decoder(wanted)
    try:
        value: T = decoder.decode(body)
    except msgspec.ValidationError as error:
        raise InvalidError(explain(_plain(body), wanted, error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _malformed(body, error) from None
    if b"\\u0000" in body and (at := _path_of_nul(_plain(body), "")) is not None:
        raise InvalidError([FieldError(at, "must not hold a zero character")])
    return value


def read_query(request: "Request[Any, Any, Any]", wanted: type[T]) -> T:
    """The query parameters as a `wanted`; unknown and repeated ones are refused by name."""
    return decode_query(request.scope.get("query_string", b""), wanted)


def decode_query(query_string: bytes, wanted: type[T]) -> T:
    """The query string as a `wanted`."""
    values: dict[str, str] = {}
    for name, value in _pairs(query_string):
        if name in values:
            raise InvalidError([FieldError(name, "is given more than once")])
        if _NUL in value:
            raise InvalidError([FieldError(name, "must not hold a zero character")])
        values[name] = value
    try:
        return msgspec.convert(values, wanted, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidError(explain(values, wanted, error, strict=False)) from None


def refuse_query(query_string: bytes) -> None:
    """For routes without parameters: refuse any."""
    unknown = [name for name, _ in _pairs(query_string)]
    if unknown:
        raise InvalidError(
            [FieldError(name, "is not a known parameter; leave it out") for name in unknown[:5]]
        )


def _pairs(query_string: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            query_string.decode("ascii"), keep_blank_values=True, max_num_fields=100, errors="strict"
        )
    except ValueError:
        raise InvalidError([FieldError("", "the query string is not valid; encode it as UTF-8")]) from None


def _plain(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _malformed(body, error) from None


def _malformed(body: bytes, error: Exception) -> MalformedBodyError:
    if not body.strip():
        return MalformedBodyError("the body is empty; send a JSON object")
    if isinstance(error, msgspec.DecodeError):
        # The decoder's words hold a position and never the text itself.
        return MalformedBodyError(f"the body is not valid JSON: {error}")
    return MalformedBodyError("the body is not valid JSON in UTF-8, or is nested too deeply")


def _path_of_nul(value: Any, path: str) -> str | None:
    if isinstance(value, str):
        return path if _NUL in value else None
    items: list[tuple[str, Any]] = []
    if isinstance(value, list):
        items = [(f"{path}[{i}]", item) for i, item in enumerate(value)]
    elif isinstance(value, dict):
        if any(_NUL in key for key in value):
            return path
        items = [(f"{path}.{key}" if path else key, item) for key, item in value.items()]
    return next((at for where, item in items if (at := _path_of_nul(item, where)) is not None), None)
