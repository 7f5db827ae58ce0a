"""The status map as JSON: what requests bring and answers show."""

import base64
import re
from collections.abc import Sequence
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from tidings.contracts.enums import Vendor
from tidings.contracts.moments import Moment
from tidings.kernel.errors import BadValueError
from tidings.kernel.mapping import by_name
from tidings.router.status_map.model import Mapped, StatusLine, StatusLineVersion
from tidings.router.status_map.store import Key, UnknownCode

_ADAPTER = re.compile(r"[a-z][a-z0-9_]{1,62}")
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}")
#: Stands for a slash in addresses.
_SLASH: Final = "~"
_PLACE = re.compile(rf"({_ADAPTER.pattern})/({_CODE.pattern})")
_CURSOR_REMEDY: Final = (
    "is not a cursor of this listing; take next_cursor from the answer before, or leave it out"
)

#: A word of ours for why something happened.
ReasonWord = Annotated[
    str,
    Meta(
        pattern=r"^[a-z][a-z0-9_]{0,62}\Z",
        description=(
            "must be a word such as blocked; invalid_address, hard_bounce, soft_bounce and complaint have "
            "consequences for the address"
        ),
    ),
]


class PutStatusLine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a code means."""

    canonical: Mapped
    reason: ReasonWord


class RevertStatusLine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which earlier version is to count again."""

    version: Annotated[int, Meta(ge=1, le=2_000_000_000)]


class ListStatusLines(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which lines are wanted."""

    adapter: Annotated[
        Vendor | None, Meta(description="Lines of this adapter, or of this vendor's own name, alone.")
    ] = None
    limit: Annotated[int, Meta(ge=1, le=1000, description="How many codes at most.")] = 200
    cursor: Annotated[
        str | None, Meta(description="`next_cursor` of the page before; leave it out for the first page.")
    ] = None


class ListUnknownCodes(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which codes are wanted."""

    adapter: Annotated[
        Vendor | None, Meta(description="What vendors of this adapter, or this vendor, said.")
    ] = None


class ReapplyQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How it is to be done."""

    dry_run: Annotated[bool, Meta(description="Count alone, and change nothing.")] = False


class StatusLineView(Struct, frozen=True, kw_only=True):
    """What somebody says that a code means."""

    canonical: Mapped
    #: A word of ours.
    reason: str
    version: int
    updated_at: Moment
    #: `seed`: the adapter itself; null where it is the platform's and you are not.
    updated_by: str | None

    @classmethod
    def of(cls, line: StatusLine, *, own: bool) -> "StatusLineView":
        """The line as it is shown; `own`: to its owner."""
        return by_name(cls, line, updated_by=line.updated_by if own or line.updated_by == "seed" else None)


class CodeView(Struct, frozen=True, kw_only=True):
    """A code with the lines that speak of it."""

    adapter: str
    code: str
    #: Which of the two lines counts. For one vendor a line of its own name is before both.
    counts: Literal["tenant", "platform"]
    #: Your own line; null where you have none, and for the platform.
    tenant: StatusLineView | None
    #: For everybody who has none of their own.
    platform: StatusLineView | None

    @classmethod
    def of(cls, lines: Sequence[StatusLine], *, platform: bool) -> "CodeView":
        """One code; its lines, the one that counts first. `platform`: shown to the platform."""
        own = next((one for one in lines if not one.platform), None)
        everybodys = next((one for one in lines if one.platform), None)
        return cls(
            adapter=lines[0].adapter,
            code=lines[0].code,
            counts="platform" if own is None else "tenant",
            tenant=StatusLineView.of(own, own=True) if own else None,
            platform=StatusLineView.of(everybodys, own=platform) if everybodys else None,
        )


class CodeList(Struct, frozen=True, kw_only=True):
    """Codes in the order of adapters."""

    items: list[CodeView]
    #: Null on the last page.
    next_cursor: str | None


class StatusLineVersionView(Struct, frozen=True, kw_only=True):
    """What a line said before."""

    version: int
    canonical: Mapped
    reason: str
    #: When it was changed.
    until: Moment
    #: Who had written it.
    by: str

    @classmethod
    def of(cls, version: StatusLineVersion) -> "StatusLineVersionView":
        """The version as it is shown."""
        return by_name(cls, version)


class CodeHistory(CodeView, frozen=True, kw_only=True):
    """A code with the earlier versions of the caller's own line."""

    #: The newest first.
    history: list[StatusLineVersionView]

    @classmethod
    def of(cls, lines: Sequence[StatusLine], *, platform: bool) -> "CodeHistory":
        """One code, in full."""
        view = CodeView.of(lines, platform=platform)
        mine = own_line(lines, platform=platform)
        return by_name(
            cls,
            view,
            history=[StatusLineVersionView.of(one) for one in reversed(mine.history)] if mine else [],
        )


class MeansView(Struct, frozen=True, kw_only=True):
    """What a code means by now."""

    canonical: str
    reason: str


class UnknownView(Struct, frozen=True, kw_only=True):
    """A code, or a word, that had no meaning when a vendor said it."""

    vendor: str
    adapter: str
    code: str
    #: Receipts that were kept as unknown.
    count: int
    #: How many tenants were told it; null for tenants.
    tenants: int | None
    first_seen: Moment
    last_seen: Moment
    #: Null: it still has none.
    means: MeansView | None

    @classmethod
    def of(cls, unknown: UnknownCode, *, platform: bool) -> "UnknownView":
        """The code as it is shown."""
        means = unknown.means
        return by_name(
            cls,
            unknown,
            tenants=unknown.tenants if platform else None,
            means=MeansView(canonical=means.canonical, reason=means.reason) if means else None,
        )


class UnknownList(Struct, frozen=True, kw_only=True):
    """Those without a meaning first, the most frequent before the others."""

    items: list[UnknownView]


class ReapplyAnswer(Struct, frozen=True, kw_only=True):
    """How far it went."""

    #: Receipts that were told; in a dry run those that would be.
    reapplied: int
    #: There are more: ask again.
    more: bool
    dry_run: bool


def own_line(lines: Sequence[StatusLine], *, platform: bool) -> StatusLine | None:
    """The line that the caller may change."""
    return next((one for one in lines if one.platform == platform), None)


def adapter_in_path(adapter: str) -> str:
    """The adapter in an address; refused by name where it is none."""
    if not _ADAPTER.fullmatch(adapter):
        raise BadValueError("adapter", "must be the name of an adapter or a vendor, such as twilio")
    return adapter


def code_in_path(code: str) -> str:
    """The code in an address, in which `~` stands for a slash; refused by name where it is none."""
    code = code.replace(_SLASH, "/")
    if not _CODE.fullmatch(code):
        raise BadValueError(
            "code", "must be a code or a word: letters, figures and . _ : - up to 64, with ~ for /"
        )
    return code


def write_cursor(key: Key) -> str:
    """The cursor for the page after this code."""
    return base64.urlsafe_b64encode(f"{key[0]}/{key[1]}".encode()).rstrip(b"=").decode()


def read_cursor(cursor: str | None) -> Key | None:
    """The code that a cursor stands for."""
    if cursor is None:
        return None
    try:
        text = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode("ascii")
    except ValueError:
        raise BadValueError("cursor", _CURSOR_REMEDY) from None
    match = _PLACE.fullmatch(text)
    if match is None:
        raise BadValueError("cursor", _CURSOR_REMEDY)
    return match[1], match[2]
