"""Reads CloudEvents 1.0 from a request or a message: structured, binary, or a batch; what is wrong is named by its attribute."""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal
from urllib.parse import unquote

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from tidings.contracts.moments import Moment
from tidings.kernel.events import BATCH_CONTENT_TYPE, CONTENT_TYPE, SPEC_VERSION
from tidings.kernel.http.asgi import SeenScope
from tidings.kernel.http.bodies import decode, require_json
from tidings.kernel.http.errors import MalformedBodyError, WrongContentTypeError
from tidings.kernel.http.field_errors import explain, printable
from tidings.kernel.http.requests import Request
from tidings.kernel.moments import out_of_range
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.received_events.model import CloudEvent, EventContent

#: Events in one batch at most.
MOST_IN_BATCH: Final = 1_000
#: Bytes of one event at most, attributes and data together.
MOST_BYTES: Final = 256 * 1024
#: Lists and objects stand inside each other so often at most, in what an event says.
MOST_DEPTH: Final = 100
_MOST_EXTENSIONS: Final = 50

_JSON_KIND = re.compile(r"(application|text)/(json|[a-z0-9.+-]+\+json)", re.IGNORECASE)
_EXTENSION = re.compile(r"[a-z0-9]{1,64}")
_LONGEST_EXTENSION: Final = 2_000
_HEADER: Final = "ce-"
_WHOLE_NUMBERS: Final = range(-(2**31), 2**31)

_ONE_LINE: Final = r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]+\Z"
_Text = Annotated[
    str,
    Meta(
        min_length=1, max_length=500, pattern=_ONE_LINE, description="must be one line of 1 to 500 characters"
    ),
]


class CloudEventInput(Struct, frozen=True, kw_only=True):
    """An event in the CloudEvents 1.0 form; attributes beyond these are kept as its extensions."""

    #: The sender's own id of it; with `source` it says which event this is, and a repeat is known by both.
    id: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=255,
            pattern=_ONE_LINE,
            description="must be one line of 1 to 255 characters",
        ),
    ]
    #: Where it happened: a URI, such as `/hotels/kabul/pms`.
    source: _Text
    #: What happened, such as `reservation.confirmed`; types of Tidings itself are refused.
    type: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=255,
            pattern=r"^[^\x00-\x20\x7f-\xa0\u2028\u2029]+\Z",
            description="must be 1 to 255 characters without spaces, such as reservation.confirmed",
        ),
    ]
    specversion: Literal["1.0"]
    #: What it is about, in its source, such as a reservation's number; events about one subject keep their order.
    subject: _Text | None = None
    #: When it happened; now, where it is left out.
    time: Moment | None = None
    #: What `data` is: JSON, and nothing else.
    datacontenttype: str | None = None
    #: The schema of `data`: a URI.
    dataschema: _Text | None = None
    #: What there is to say about it: any JSON.
    data: Any = UNSET
    #: The same as JSON in base64, in the place of `data`.
    data_base64: str | None = None


class _RawData(Struct):
    data: Raw | UnsetType = UNSET


#: The attributes of the standard.
ATTRIBUTES: Final = frozenset(CloudEventInput.__struct_fields__)
_raw_data = msgspec.json.Decoder(_RawData).decode
_raw_parts = msgspec.json.Decoder(dict[str, Raw]).decode
#: What the decoder says of JSON that is none, or that it can't hold: `1e999`, brackets without an end.
_UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_UNREADABLE_REMEDY: Final = (
    f"must be JSON that can be read: numbers up to 1e308, and at most {MOST_DEPTH} lists and objects "
    "inside each other"
)


async def read_request(request: Request) -> "CloudEvent | list[CloudEvent | InvalidError]":
    """The event of a request; of a batch each event, or what is wrong with it."""
    kind = media_type(request.scope)
    if kind == BATCH_CONTENT_TYPE:
        require_json(request.scope)
        return read_batch(decode(await request.body(), list[Raw]), "")
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.scope["headers"]]
    if kind != CONTENT_TYPE and (attributes := _binary_attributes(headers)):
        return _binary(attributes, kind, await request.body())
    require_json(request.scope)
    body = await request.body()
    if body.lstrip()[:1] == b"[":
        raise InvalidError(
            [
                FieldError(
                    "", f"must be one event; a list of them is sent as Content-Type: {BATCH_CONTENT_TYPE}"
                )
            ]
        )
    decode(body, Raw)
    return structured(body)


def read_message(headers: Mapping[str, str], body: bytes) -> CloudEvent:
    """The event in a message of a broker: structured or binary, as in a request; an `InvalidError` where it is none."""
    named = [(name.lower(), value) for name, value in headers.items()]
    kind = next((value for name, value in named if name == "content-type"), "")
    kind = kind.partition(";")[0].strip().lower()
    if kind == BATCH_CONTENT_TYPE:
        raise _invalid("", "must be one event; send the events of a batch as messages of their own")
    if kind != CONTENT_TYPE and (attributes := _binary_attributes(named)):
        return _binary(attributes, kind or "application/json", body)
    if kind and not _JSON_KIND.fullmatch(kind):
        raise _invalid(
            "",
            f"must be a CloudEvent: JSON with Content-Type {CONTENT_TYPE}, or headers ce-… and the data as JSON",
        )
    return structured(body)


def read_batch(several: Sequence[Raw], field: str) -> "list[CloudEvent | InvalidError]":
    """Each event of a batch, or what is wrong with it; `field` is what the caller calls the batch."""
    if not 1 <= len(several) <= MOST_IN_BATCH:
        raise _invalid(field, f"must be a list of 1 to {MOST_IN_BATCH:,} events")
    return [_one_of(raw) for raw in several]


def media_type(scope: SeenScope) -> str:
    """What the body says it is, without parameters."""
    said = [value.decode("latin-1") for name, value in scope["headers"] if name == b"content-type"]
    if len(said) > 1:
        raise WrongContentTypeError("send one Content-Type header, not several")
    return said[0].partition(";")[0].strip().lower() if said else ""


def structured(body: bytes | Raw) -> CloudEvent:
    """The event in a JSON object; an `InvalidError` that names every wrong attribute where it is none."""
    values = _values(body)
    if not isinstance(values, dict):
        raise InvalidError([FieldError("", "must be an object with id, source, type and specversion")])
    data = _raw_data(body).data
    return _checked(values, data)


def _one_of(raw: Raw) -> CloudEvent | InvalidError:
    try:
        return structured(raw)
    except InvalidError as error:
        return error


def _values(body: bytes | Raw) -> Any:
    if len(memoryview(body)) > MOST_BYTES:
        raise InvalidError([FieldError("", _too_long())])
    try:
        values = msgspec.json.decode(body)
    except _UNREADABLE:
        raise _invalid(_unreadable_part(body), _UNREADABLE_REMEDY) from None
    if isinstance(values, dict) and _may_be_deep(body):
        for name, value in values.items():
            if _is_deep(value):
                raise _invalid(printable(name), _UNREADABLE_REMEDY)
    return values


def _unreadable_part(body: bytes | Raw) -> str:
    """The attribute that can't be read."""
    try:
        parts = _raw_parts(body)
    except _UNREADABLE:
        return ""
    for name, part in parts.items():
        try:
            msgspec.json.decode(part)
        except _UNREADABLE:
            return printable(name)
    return ""


def _readable(data: bytes, field: str) -> Raw:
    """The data as it is kept, once it is sure that whoever reads it later can."""
    try:
        value = msgspec.json.decode(data)
    except _UNREADABLE:
        raise _invalid(field, _UNREADABLE_REMEDY) from None
    if _may_be_deep(data) and _is_deep(value):
        raise _invalid(field, _UNREADABLE_REMEDY)
    return Raw(data)


def _may_be_deep(body: bytes | Raw) -> bool:
    """Whether a look inside is needed at all."""
    written = bytes(body)
    return written.count(b"[") + written.count(b"{") > MOST_DEPTH


def _is_deep(value: Any) -> bool:
    """Level by level, so that nothing is too deep for the look itself."""
    level = _containers([value])
    for _ in range(MOST_DEPTH):
        level = [found for one in level for found in _containers(one)]
    return bool(level)


def _containers(value: Any) -> list[Any]:
    """The lists and objects right inside of it."""
    inside = value.values() if isinstance(value, dict) else value
    return [one for one in inside if isinstance(one, (list, dict))]


def _too_long() -> str:
    return f"must have at most {MOST_BYTES:,} bytes; keep what is larger elsewhere and send a link to it"


def _binary_attributes(headers: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The attributes in the headers `ce-…`, each percent-decoded, as the bindings of HTTP and NATS have it."""
    found: dict[str, Any] = {}
    for name, value in headers:
        if name.startswith(_HEADER):
            attribute = name[len(_HEADER) :]
            if attribute in found:
                raise InvalidError([FieldError(f"ce-{attribute}", "is given more than once")])
            try:
                found[attribute] = unquote(value, errors="strict")
            except UnicodeDecodeError:
                raise InvalidError([FieldError(f"ce-{attribute}", "must be percent-encoded UTF-8")]) from None
    return found


def _binary(attributes: dict[str, Any], kind: str, body: bytes) -> CloudEvent:
    """The event whose attributes are headers, and whose data is the body."""
    in_body = [name for name in ("data", "data_base64", "datacontenttype") if name in attributes]
    if in_body:
        remedy = "is no header: the body is the data, and Content-Type says what it is"
        raise InvalidError([FieldError(f"ce-{name}", remedy) for name in in_body])
    if len(body) + sum(map(len, attributes.values())) > MOST_BYTES:
        raise InvalidError([FieldError("", _too_long())])
    data: Raw | UnsetType = UNSET
    if body.strip():
        if not _JSON_KIND.fullmatch(kind):
            raise WrongContentTypeError("the data has to be JSON: send `Content-Type: application/json`")
        decode(body, Raw)
        data = _readable(body, "data")
        attributes["datacontenttype"] = kind
    try:
        return _checked(attributes, data)
    except InvalidError as error:
        # In this mode attributes are headers, and go by their names.
        raise InvalidError(
            [FieldError(f"ce-{wrong.field}" if wrong.field else "", wrong.remedy) for wrong in error.errors]
        ) from None


def _checked(values: dict[str, Any], data: Raw | UnsetType) -> CloudEvent:
    if values.get("specversion") not in (None, SPEC_VERSION):
        raise InvalidError([FieldError("specversion", f"must be {SPEC_VERSION}")])
    try:
        read = msgspec.convert(values, CloudEventInput)
    except msgspec.ValidationError as error:
        raise InvalidError(explain(values, CloudEventInput, error)) from None
    extensions = {name: value for name, value in values.items() if name not in ATTRIBUTES}
    wrong = [*out_of_range(read), *_wrong_extensions(extensions)]
    if wrong:
        raise InvalidError(wrong)
    content = EventContent(
        data=_data(read, data),
        extensions={name: value for name, value in extensions.items() if value is not None},
        datacontenttype=read.datacontenttype,
        dataschema=read.dataschema,
    )
    return CloudEvent(
        id=read.id,
        source=read.source,
        type=read.type,
        time=read.time,
        subject=read.subject,
        content=content,
    )


def _data(read: CloudEventInput, data: Raw | UnsetType) -> Raw | UnsetType:
    kind = (read.datacontenttype or "application/json").partition(";")[0].strip()
    if not _JSON_KIND.fullmatch(kind):
        raise _invalid("datacontenttype", "must be JSON, such as application/json; other data is not taken")
    if read.data_base64 is None:
        return data
    if not isinstance(data, UnsetType):
        raise _invalid("data_base64", "must not be there beside data; send one of them")
    try:
        inside = base64.b64decode(read.data_base64, validate=True)
        decode(inside, Raw)
    except (binascii.Error, ValueError, MalformedBodyError, InvalidError):
        raise _invalid("data_base64", "must be JSON in base64; send JSON as data") from None
    return _readable(inside, "data_base64")


def _invalid(field: str, remedy: str) -> InvalidError:
    return InvalidError([FieldError(field, remedy)])


def _wrong_extensions(extensions: Mapping[str, Any]) -> Iterator[FieldError]:
    if len(extensions) > _MOST_EXTENSIONS:
        yield FieldError("", f"must have at most {_MOST_EXTENSIONS} extension attributes")
        return
    for name, value in extensions.items():
        if not _EXTENSION.fullmatch(name):
            yield FieldError(
                printable(name),
                "is no name of an attribute: those are lower-case letters and digits; what the event says goes into data",
            )
        elif isinstance(value, bool) or value is None:
            continue
        elif isinstance(value, int):
            if value not in _WHOLE_NUMBERS:
                yield FieldError(name, "must be a whole number of 32 bits")
        elif not isinstance(value, str):
            yield FieldError(
                name,
                "must be a text, a whole number or true or false, as extension attributes are; objects go into data",
            )
        elif len(value) > _LONGEST_EXTENSION:
            yield FieldError(name, f"must have at most {_LONGEST_EXTENSION:,} characters")
