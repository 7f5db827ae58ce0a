"""Reads what a request brings: bodies, strictly typed; query parameters likewise.

Unknown fields and parameters are refused by name, and so is a field that is given twice: two readers of one
request must not see two different things. Texts with a zero character are refused too: Postgres can't hold
them.
"""

import json
from typing import Any, TypeVar, get_origin
from urllib.parse import parse_qsl

import msgspec
from msgspec import structs

from tidings.kernel.http.asgi import SeenScope, headers
from tidings.kernel.http.errors import MalformedBodyError, WrongContentTypeError
from tidings.kernel.http.field_errors import explain, plain_type, printable
from tidings.kernel.http.requests import CarriesScope, body_of
from tidings.kernel.idempotency import canonical
from tidings.kernel.moments import bare_number, out_of_range, timed_fields
from tidings.kernel.refusals import FieldError, InvalidError

_NUL = "\x00"
_MOST_PARAMETERS = 100
#: Where the decoded body of a request is kept.
_MEANT = "tidings.body.meant"

T = TypeVar("T")
_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}
_maps: dict[Any, frozenset[str]] = {}


async def read_body(request: CarriesScope, wanted: type[T]) -> T:
    """The body as a `wanted`; an error that names every wrong field where it is none."""
    require_json(request.scope)
    value = decode(await body_of(request), wanted)
    scope: Any = request.scope
    scope[_MEANT] = value
    return value


def meaning_of(request: CarriesScope, body: bytes) -> bytes:
    """What two requests are compared by: the body as it was decoded, or as it is where no handler has decoded it."""
    scope: Any = request.scope
    if _MEANT in scope:
        return canonical(scope[_MEANT])
    try:
        return canonical(msgspec.json.decode(body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return body


def require_json(scope: SeenScope) -> None:
    """Refuse a body that does not say it is JSON, or that is packed."""
    said = headers(scope, b"content-type")
    if len(said) > 1:
        raise WrongContentTypeError("send one Content-Type header, not several")
    kind = said[0].partition(";")[0].strip().lower() if said else ""
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise WrongContentTypeError
    if any(packed.strip().lower() not in ("", "identity") for packed in headers(scope, b"content-encoding")):
        raise WrongContentTypeError("the body has to be plain JSON: send it without Content-Encoding")


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
    _refuse_twins(body)
    if b"\\u0000" in body and (at := _nul_in(body)) is not None:
        raise InvalidError([FieldError(at, "must not hold a zero character")])
    if wrong := list(out_of_range(value)):
        raise InvalidError(wrong)
    return value


def decode_query(query_string: bytes, wanted: type[T]) -> T:
    """The query string as a `wanted`."""
    values: dict[str, Any] = {}
    maps = _maps_of(wanted)
    kind: Any = wanted
    times = {written for _, written in timed_fields(kind)}
    for name, value in _pairs(query_string):
        first, dot, rest = name.partition(".")
        into, key = (values.setdefault(first, {}), rest) if dot and first in maps else (values, name)
        if key in into or name in maps:
            said = "is given more than once" if key in into else f"is written {name}.NAME=VALUE"
            raise InvalidError([FieldError(name, said)])
        if _NUL in value:
            raise InvalidError([FieldError(name, "must not hold a zero character")])
        if name in times and (remedy := bare_number(value)):
            raise InvalidError([FieldError(name, remedy)])
        into[key] = value
    try:
        found = msgspec.convert(values, wanted, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidError(explain(values, wanted, error, strict=False)) from None
    # The converter takes the word "null" for nothing; a filter must not vanish that way.
    nulls = {name for name, value in values.items() if isinstance(value, str) and value.lower() == "null"}
    for field in structs.fields(kind) if nulls else ():
        if field.encode_name in nulls and getattr(found, field.name) is None:
            raise InvalidError([FieldError(field.encode_name, "must not be null; leave it out")])
    if wrong := list(out_of_range(found)):
        raise InvalidError(wrong)
    return found


def _maps_of(wanted: Any) -> frozenset[str]:
    """Parameters that are written `name.key=value`: fields that hold an object."""
    known = _maps.get(wanted)
    if known is None:
        fields = structs.fields(wanted)
        known = _maps[wanted] = frozenset(
            field.encode_name for field in fields if get_origin(plain_type(field.type)) is dict
        )
    return known


def refuse_query(query_string: bytes) -> None:
    """For routes without parameters: refuse any."""
    unknown = [name for name, _ in _pairs(query_string)]
    if unknown:
        raise InvalidError(
            [FieldError(name, "is not a known parameter; leave it out") for name in unknown[:5]]
        )


def _pairs(query_string: bytes) -> list[tuple[str, str]]:
    if query_string.count(b"&") >= _MOST_PARAMETERS:
        raise InvalidError([FieldError("query", f"must have at most {_MOST_PARAMETERS} parameters")])
    try:
        return parse_qsl(query_string.decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError:
        raise InvalidError([FieldError("query", "must be encoded as UTF-8")]) from None


class _TwinError(Exception):
    """A name that stands twice in one object."""


def _refuse_twins(body: bytes) -> None:
    if _has_no_twins(body):
        return
    try:
        # Numbers stay texts: they are not looked at here, and a long one would take its time.
        json.loads(body, object_pairs_hook=_without_twins, parse_int=str, parse_float=str)
    except _TwinError as twin:
        raise InvalidError([FieldError(printable(str(twin)), "is given more than once")]) from None
    except (ValueError, RecursionError) as error:
        raise _malformed(body, error) from None


def _has_no_twins(body: bytes) -> bool:
    """Whether it is sure, without a look at each object: as many colons come back as were there.

    A colon stands behind every name, and decoding drops the first of two twins with its colon; those in texts come back
    as they were, unless they are spelt otherwise.
    """
    if b"\\u003a" in body or b"\\u003A" in body:
        return False
    try:
        return body.count(b":") == msgspec.json.encode(msgspec.json.decode(body)).count(b":")
    except (msgspec.DecodeError, msgspec.EncodeError, UnicodeError, RecursionError, OverflowError):
        return False


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise _TwinError(next(name for name in found if names.count(name) > 1))
    return found


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


def _nul_in(body: bytes) -> str | None:
    try:
        return _path_of_nul(_plain(body), "")
    except RecursionError as error:
        raise _malformed(body, error) from None


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
