"""Strong ETags made of versions, and the precondition that a change is made from the version it names."""

import re
from typing import Literal

from tidings.kernel.errors import BadValueError
from tidings.kernel.http.asgi import SeenScope, headers
from tidings.kernel.http.errors import PreconditionRequiredError
from tidings.kernel.refusals import StaleVersionError

#: Whether a change has to name the version that it is made from: always, where there is something to change, or never.
IfMatchMode = Literal["required", "where_there", "optional"]

_TAG = re.compile(r'\s*(W/)?"([\x21\x23-\x7e\x80-\xff]*)"\s*')


def etag(version: int) -> str:
    """The ETag of a version: `"v3"`."""
    return f'"v{version}"'


def expect_version(scope: SeenScope, current: int, *, required: bool = True) -> None:
    """Refuse a change whose `If-Match` does not name the current version, or that has none where it must."""
    given = ",".join(headers(scope, b"if-match")).strip()
    if not given:
        if required:
            raise PreconditionRequiredError
        return
    if given == "*":
        return
    # A weak tag never matches here (RFC 9110 §13.1.1): a change needs the exact version.
    if f"v{current}" not in _strong_tags(given):
        raise StaleVersionError


def expect_nothing(scope: SeenScope, remedy: str) -> None:
    """Refuse a change that names a version, `*` too, where there is nothing yet (RFC 9110 §13.1.1)."""
    if headers(scope, b"if-match"):
        raise StaleVersionError(remedy)


class IfMatch:
    """The precondition of a change: the version that it is made from."""

    __slots__ = ("_mode", "_scope")

    def __init__(self, scope: SeenScope, mode: IfMatchMode) -> None:
        self._scope = scope
        self._mode = mode

    def expect(
        self, current: int | None, *, nothing: str = "there is nothing yet to change from a version"
    ) -> None:
        """Refuse a change that is made from another version than the current one, or names none where it must.

        Where there is nothing yet (`current` is None) a change that names a version is refused, with the remedy
        `nothing`.
        """
        if current is None:
            expect_nothing(self._scope, nothing)
        else:
            expect_version(self._scope, current, required=self._mode != "optional")


def _strong_tags(given: str) -> list[str]:
    tags: list[str] = []
    for part in given.split(","):
        match = _TAG.fullmatch(part)
        if match is None:
            raise BadValueError("If-Match", 'must be an ETag in double quotes, such as "v3"')
        if match[1] is None:
            tags.append(match[2])
    return tags
