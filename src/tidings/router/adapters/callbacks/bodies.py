"""The JSON of a vendor's callback, read as far as we know it; fields that are not known here are left aside."""

import re
from typing import TypeVar

from tidings.contracts.callback_forms import RawCallback
from tidings.kernel.http.bodies import decode

T = TypeVar("T")
#: A zero character as JSON writes it, not behind a backslash that is itself written out.
_ZERO = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")


def read_json(body: bytes, wanted: type[T]) -> T:
    """What it says; a `MalformedBodyError` or an `InvalidError` where it is none of that form.

    Zero characters are left out: whoever writes one to us must not keep the rest of the request from being taken.
    """
    if b"\\u0000" in body:
        body = _ZERO.sub(rb"\1", body)
    return decode(body, wanted)


def json_body(request: RawCallback, wanted: type[T]) -> T:
    """The whole body of a request."""
    return read_json(request.body, wanted)
