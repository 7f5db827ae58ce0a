"""What becomes of a message after it was taken: which receipts its sender gets, and when.

A script is a list of receipts, or the name of one. It is set for a vendor, a channel or an address; telephone numbers
that no person has are scripts by themselves.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from msgspec import Meta, Struct

from tidings.contracts.callbacks import ReceiptWord
from tidings.kernel.errors import BadValueError
from tidings.kernel.refusals import NotFoundError

_LONGEST = 604_800.0
_Seconds = Annotated[float, Meta(ge=0, le=_LONGEST)]
_Words = Annotated[str, Meta(min_length=1, max_length=200)]
#: Scripts that are in force at once.
_MOST = 10_000
_MOST_NAME = 320


class ScriptedCost(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the vendor takes for it."""

    micros: Annotated[int, Meta(ge=0, le=10**15)]
    currency: Annotated[str, Meta(pattern=r"^[A-Z]{3}\Z", description="must be a currency such as USD")]


class ScriptedReceipt(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One receipt."""

    status: ReceiptWord
    #: When it is sent, counted from when the message was taken.
    after_seconds: _Seconds = 0.0
    #: When it says that it happened, where that is not when it is sent.
    happened_seconds: _Seconds | None = None
    #: How often the same one is sent once more.
    repeat: Annotated[int, Meta(ge=0, le=10)] = 0
    code: _Words | None = None
    reason: _Words | None = None
    cost: ScriptedCost | None = None
    #: Its signature is wrong.
    forged: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptScript:
    """What a message is in for."""

    name: str
    beats: tuple[ScriptedReceipt, ...] = ()
    #: It is not taken at all.
    refuses: bool = False


class ScriptSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A script as it is asked for: its name, or its receipts."""

    script: Annotated[str, Meta(max_length=60)] | Annotated[list[ScriptedReceipt], Meta(max_length=20)]
    #: So many messages, then it is over.
    count: Annotated[int, Meta(ge=1, le=1_000_000_000)] | None = None


_SENT: Final = ScriptedReceipt(status="sent", after_seconds=0.1)
_DELIVERED: Final = ScriptedReceipt(status="delivered", after_seconds=0.3)
_FIXED: Final[Mapping[str, tuple[ScriptedReceipt, ...]]] = {
    "delivered": (_SENT, _DELIVERED),
    "sent": (_SENT,),
    "read": (_SENT, _DELIVERED, ScriptedReceipt(status="read", after_seconds=1.0)),
    "never": (),
    "repeated": (
        ScriptedReceipt(status="sent", after_seconds=0.1, repeat=2),
        ScriptedReceipt(status="delivered", after_seconds=0.3, repeat=2),
    ),
    "out_of_order": (
        ScriptedReceipt(status="delivered", after_seconds=0.1, happened_seconds=0.08),
        ScriptedReceipt(status="sent", after_seconds=0.3, happened_seconds=0.04),
    ),
    "rejected": (),
    "unreachable": (
        ScriptedReceipt(
            status="rejected",
            after_seconds=0.2,
            code="recipient_unreachable",
            reason="the recipient can't be reached on this channel",
        ),
    ),
    "failed": (
        ScriptedReceipt(
            status="failed", after_seconds=0.2, code="undeliverable", reason="it could not be delivered"
        ),
    ),
    "forged": (ScriptedReceipt(status="delivered", after_seconds=0.1, forged=True),),
}
#: Those that are told how long: `late:30`.
_TIMED: Final[Mapping[str, Callable[[float], tuple[ScriptedReceipt, ...]]]] = {
    "delivered_after": lambda seconds: (ScriptedReceipt(status="delivered", after_seconds=seconds),),
    "late": lambda seconds: (
        _SENT,
        ScriptedReceipt(status="delivered", after_seconds=max(seconds, _DELIVERED.after_seconds)),
    ),
}
NAMES: Final = (*_FIXED, *(f"{name}:SECONDS" for name in _TIMED))
#: Numbers that no person has, by the script that a message to them is in for.
MAGIC: Final[Mapping[str, str]] = {
    "+15005550100": "delivered",
    "+15005550101": "delivered_after:10",
    "+15005550102": "never",
    "+15005550103": "read",
    "+15005550104": "late:60",
    "+15005550105": "repeated",
    "+15005550106": "out_of_order",
    "+15005550107": "rejected",
    "+15005550108": "unreachable",
    "+15005550109": "failed",
    "+15005550110": "sent",
    "+15005550111": "forged",
}


def named(text: str) -> ReceiptScript:
    """The script of this name."""
    if text in _FIXED:
        return ReceiptScript(name=text, beats=_FIXED[text], refuses=text == "rejected")
    name, _, given = text.partition(":")
    if name in _TIMED and (seconds := _seconds(given)) is not None:
        return ReceiptScript(name=text, beats=_TIMED[name](seconds))
    raise BadValueError("script", f"must be one of {', '.join(NAMES)}, or a list of receipts")


class ReceiptScripts:
    """The scripts that are in force; what is set for an address goes before the vendor's, that before the channel's."""

    def __init__(self) -> None:
        self._standing: OrderedDict[str, tuple[ScriptSpec, ReceiptScript]] = OrderedDict()

    def set(self, name: str, wish: ScriptSpec) -> None:
        """Put it in force for a vendor, a channel or an address, in the place of the one before."""
        if not name or len(name) > _MOST_NAME or not name.isprintable():
            raise BadValueError("name", "must be a vendor, a channel or an address")
        key = name.lower()
        if key not in self._standing and len(self._standing) >= _MOST:
            raise BadValueError("name", f"there are {_MOST} scripts already; DELETE /scripts ends them")
        self._put(key, wish)

    def end(self, name: str) -> None:
        """The usual one again."""
        if self._standing.pop(name.lower(), None) is None:
            raise NotFoundError("there is no script for that")

    def clear(self) -> None:
        """The usual one for all."""
        self._standing.clear()

    def standing(self) -> dict[str, ScriptSpec]:
        """Those in force, with what is left of them."""
        return {key: wish for key, (wish, _) in self._standing.items()}

    def strike(self, *, vendor: str, channel: str, addresses: Iterable[str]) -> ReceiptScript:
        """What the message that has just come is in for."""
        told = [address.lower() for address in addresses]
        for key in told:
            if key in self._standing:
                return self._used(key)
        for key in told:
            if (magic := MAGIC.get(key)) is not None:
                return named(magic)
        for key in (vendor.lower(), channel):
            if key in self._standing:
                return self._used(key)
        return named("delivered")

    def _put(self, key: str, wish: ScriptSpec) -> None:
        script = (
            named(wish.script)
            if isinstance(wish.script, str)
            else ReceiptScript(name="by hand", beats=tuple(wish.script))
        )
        self._standing[key] = (wish, script)

    def _used(self, key: str) -> ReceiptScript:
        wish, script = self._standing[key]
        if wish.count is not None:
            if wish.count == 1:
                del self._standing[key]
            else:
                self._standing[key] = (ScriptSpec(script=wish.script, count=wish.count - 1), script)
        return script


def _seconds(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if 0 <= found <= _LONGEST else None
