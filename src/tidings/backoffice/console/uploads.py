"""Forms with a file in them (RFC 7578), as browsers send them."""

from collections.abc import Mapping
from email.message import Message
from typing import Final

from tidings.kernel.http.requests import Request

#: A form with a file, beside what the file may have.
ROOM: Final = 64 * 1024
_MOST_PARTS: Final = 100


async def read_multipart(request: Request) -> tuple[Mapping[str, str], Mapping[str, bytes]]:
    """The fields and the files of a form, by their names; a `ValueError` where it can't be read."""
    boundary = parameter_of("content-type", request.header("content-type") or "", "boundary")
    if not boundary:
        raise ValueError("no boundary")
    mark = b"\r\n--" + boundary.encode("latin-1")
    pieces = (b"\r\n" + await request.body()).split(mark)
    if len(pieces) > _MOST_PARTS:
        raise ValueError("too many parts")
    fields: dict[str, str] = {}
    files: dict[str, bytes] = {}
    for piece in pieces[1:]:
        head, found, content = piece.partition(b"\r\n\r\n")
        if piece.startswith(b"--") or not found:
            continue
        disposition = disposition_of(head.decode("utf-8", "replace"))
        name = parameter_of("content-disposition", disposition, "name")
        if name is None:
            continue
        if parameter_of("content-disposition", disposition, "filename") is None:
            fields[name] = content.decode("utf-8", "replace")
        else:
            files[name] = content
    return fields, files


def is_multipart(request: Request) -> bool:
    """Whether a form was sent with files."""
    return (request.header("content-type") or "").lower().startswith("multipart/form-data")


def disposition_of(head: str) -> str:
    """What the head of a part says of its name and file."""
    for line in head.split("\r\n"):
        name, _, value = line.partition(":")
        if name.strip().lower() == "content-disposition":
            return value.strip()
    return ""


def parameter_of(header: str, value: str, name: str) -> str | None:
    """A parameter of a header, such as `boundary`; None where it has none."""
    message = Message()
    message[header] = value
    found = message.get_param(name, header=header)
    return found if isinstance(found, str) else None
