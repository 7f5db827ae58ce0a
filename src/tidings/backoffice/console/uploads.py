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
    boundary = _parameter("content-type", request.header("content-type") or "", "boundary")
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
        disposition = _disposition(head.decode("utf-8", "replace"))
        name = _parameter("content-disposition", disposition, "name")
        if name is None:
            continue
        if _parameter("content-disposition", disposition, "filename") is None:
            fields[name] = content.decode("utf-8", "replace")
        else:
            files[name] = content
    return fields, files


def is_multipart(request: Request) -> bool:
    """Whether a form was sent with files."""
    return (request.header("content-type") or "").lower().startswith("multipart/form-data")


def _disposition(head: str) -> str:
    for line in head.split("\r\n"):
        name, _, value = line.partition(":")
        if name.strip().lower() == "content-disposition":
            return value.strip()
    return ""


def _parameter(header: str, value: str, name: str) -> str | None:
    message = Message()
    message[header] = value
    found = message.get_param(name, header=header)
    return found if isinstance(found, str) else None
