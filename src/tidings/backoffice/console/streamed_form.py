"""A form with a file that may be larger than memory: fields first, then the file, piece by piece as it arrives."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from tidings.backoffice.console.uploads import disposition_of, parameter_of
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.asgi import ClientGoneError
from tidings.kernel.http.requests import Request

_MOST_FIELDS: Final = 50
_MOST_HEAD: Final = 8 * 1024
_MOST_VALUE: Final = 32 * 1024
_END_OF_HEAD: Final = b"\r\n\r\n"


class FormUploadLimit(int):
    """How many bytes a form with a file may have: a setting, and room for the fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedForm:
    """What was typed, and the file behind it; `file` None: none was chosen."""

    fields: Mapping[str, str] = field(repr=False)
    filename: str = ""
    file: AsyncIterator[bytes] | None = None


async def read_streamed(request: Request) -> StreamedForm:
    """The fields, up to the file; a `BadValueError` where it is no such form."""
    boundary = parameter_of("content-type", request.header("content-type") or "", "boundary")
    if not boundary:
        raise _unreadable()
    body = _Body(request.pieces(), b"\r\n--" + boundary.encode("latin-1"))
    fields: dict[str, str] = {}
    # What stands before the first mark is nothing.
    await body.until(body.mark, _MOST_HEAD)
    while len(fields) < _MOST_FIELDS:
        head = await body.until(_END_OF_HEAD, _MOST_HEAD, or_end=True)
        if head is None:
            return StreamedForm(fields=fields)
        disposition = disposition_of(head.decode("utf-8", "replace"))
        name = parameter_of("content-disposition", disposition, "name") or ""
        filename = parameter_of("content-disposition", disposition, "filename")
        if filename is not None:
            return StreamedForm(fields=fields, filename=filename, file=body.pieces() if filename else None)
        value = await body.until(body.mark, _MOST_VALUE)
        fields[name] = (value or b"").decode("utf-8", "replace")
    raise _unreadable()


class _Body:
    """The bytes of a form, of which no more are held than it takes to see a mark."""

    def __init__(self, arriving: AsyncIterator[bytes], mark: bytes) -> None:
        self.mark = mark
        self._arriving = arriving
        # The first mark has no line break before it.
        self._held = b"\r\n"

    async def _more(self) -> bool:
        try:
            self._held += await anext(self._arriving)
        except (StopAsyncIteration, ClientGoneError):
            return False
        return True

    async def until(self, mark: bytes, most: int, *, or_end: bool = False) -> bytes | None:
        """What stands before a mark, which is taken too; None at the end of the form, where that may be."""
        while (place := self._held.find(mark)) < 0:
            if or_end and self._held.startswith(b"--"):
                return None
            if len(self._held) > most or not await self._more():
                raise _unreadable()
        found, self._held = self._held[:place], self._held[place + len(mark) :]
        return found

    async def pieces(self) -> AsyncIterator[bytes]:
        """What stands before the next mark, as it arrives; a `ClientGoneError` where it never comes."""
        keep = len(self.mark) - 1
        while (place := self._held.find(self.mark)) < 0:
            if len(self._held) > keep:
                piece, self._held = self._held[:-keep], self._held[-keep:]
                yield piece
            if not await self._more():
                raise ClientGoneError
        if place:
            yield self._held[:place]


def _unreadable() -> BadValueError:
    return BadValueError("file", "could not be read; choose it and send the form again")
