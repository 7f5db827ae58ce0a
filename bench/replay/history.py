"""A made-up history: people, the messages to them, what vendors say of those, what people write back.

It is one that can happen. A message takes one course: an address that is gone bounces, a mailbox that is full is full, and
who has no WhatsApp never gets a message there. So there is one right state at the end, whoever hears what first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Final, Literal

from tidings.contracts.callbacks import ReceiptWord
from tidings.contracts.enums import UseCase
from tidings.contracts.tenants import Channel

Kind = Literal["mail", "letter", "text", "chat", "alert"]

TENANTS: Final = 4
#: The code of a full mailbox; the status map says that it is a soft bounce.
FULL_MAILBOX: Final = "mailbox_full"
#: Words that mean nothing to anybody.
ODD_WORDS: Final = ("handset_ack", "queued_at_carrier")

#: How many in a hundred people get messages of which kind.
_KINDS: Final[tuple[tuple[Kind, int], ...]] = (
    ("mail", 30),
    ("letter", 12),
    ("text", 25),
    ("chat", 18),
    ("alert", 15),
)
#: The steps of a ladder: channel and vendor.
STEPS: Final[dict[Kind, tuple[tuple[Channel, str], ...]]] = {
    "mail": (("email", "sendgrid"),),
    "letter": (("email", "http"),),
    "text": (("sms", "twilio"),),
    "chat": (("whatsapp", "whatsapp_cloud"), ("sms", "http")),
    "alert": (("sms", "http"),),
}
#: With these vendors every tenant has an account of its own; with the others there is the platform's.
OWN_ACCOUNTS: Final = frozenset({"sendgrid", "whatsapp_cloud"})
#: Those that wait to hear that the message arrived; a mail is done when a vendor has taken it.
USE_CASES: Final[dict[Kind, UseCase]] = {"text": "otp", "chat": "txn", "alert": "alert"}
#: Vendors that tell several things in one request.
_BUNDLES: Final = frozenset({"mail", "letter", "alert"})
_BUNDLED: Final = 0.06
_WROTE: Final = 0.08


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message to somebody."""

    number: int
    person: int
    kind: Kind

    @property
    def tenant(self) -> int:
        """Whose."""
        return self.person % TENANTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a vendor says of a message."""

    message: Message
    step: int
    #: The generic form's word, or one that means nothing.
    word: str
    #: Since the beginning, in whole seconds as most vendors tell them.
    at: timedelta
    #: Tells it from the others of its message.
    serial: int
    code: str | None = None
    #: What the vendor takes, in millionths of a US dollar.
    micros: int | None = None

    @property
    def vendor(self) -> str:
        """Who says it."""
        return STEPS[self.message.kind][self.step - 1][1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrote:
    """What somebody writes back."""

    message: Message
    at: timedelta

    @property
    def vendor(self) -> str:
        """Who carries it."""
        return STEPS[self.message.kind][0][1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A callback: some of what one vendor says of one tenant's messages, or what one person wrote."""

    number: int
    at: timedelta
    said: tuple[Said, ...] = ()
    wrote: Wrote | None = None

    @property
    def messages(self) -> list[Message]:
        """What it is about."""
        return [self.wrote.message] if self.wrote is not None else [one.message for one in self.said]

    @property
    def vendor(self) -> str:
        """Who calls."""
        return self.wrote.vendor if self.wrote is not None else self.said[0].vendor

    @property
    def people(self) -> set[int]:
        """Whom it is about."""
        return {one.person for one in self.messages}


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """All of it."""

    #: The kind of each person's messages, by number.
    people: tuple[Kind, ...]
    messages: tuple[Message, ...]
    #: In the order of their times.
    requests: tuple[Request, ...]

    @property
    def events(self) -> int:
        """How many things are said and written."""
        return sum(len(one.said) or 1 for one in self.requests)


def make_history(callbacks: int, *, seed: int) -> History:
    """One of so many callbacks, the same for the same seed; the last messages are still under way at its end."""
    luck = Random(seed)
    people: list[Kind] = []
    messages: list[Message] = []
    told: list[Said | Wrote] = []
    while len(told) < callbacks * (1 + _BUNDLED):
        kind = luck.choices([k for k, _ in _KINDS], [share for _, share in _KINDS])[0]
        person = len(people)
        people.append(kind)
        for course in _courses(kind, luck):
            message = Message(number=len(messages), person=person, kind=kind)
            messages.append(message)
            told += _timed(message, course, luck)
            if kind in ("text", "chat") and luck.random() < _WROTE:
                told.append(Wrote(message=message, at=_seconds(luck.randrange(600, 7200))))
    requests = _requests(sorted(told, key=lambda one: (one.at, one.message.number)), luck)
    return History(people=tuple(people), messages=tuple(messages), requests=tuple(requests[:callbacks]))


#: Step, word, code, price.
_Line = tuple[int, str, str | None, int | None]


def _line(
    word: ReceiptWord | str, *, step: int = 1, code: str | None = None, micros: int | None = None
) -> _Line:
    return step, word, code, micros


def _courses(kind: Kind, luck: Random) -> list[list[_Line]]:
    """What becomes of one person's messages."""
    some = luck.choice((1, 1, 2))
    match kind:
        case "mail":
            return _mails(some, luck)
        case "letter" if luck.random() < 0.5:
            full = [_line("sent"), _line("failed", code=FULL_MAILBOX)]
            return [full for _ in range(luck.choice((2, 3, 5)))]
        case "letter":
            return [[_line("sent"), _line("delivered")] for _ in range(some)]
        case "text":
            return [_text(luck) for _ in range(some)]
        case "chat":
            has_it = luck.random() < 0.6
            return [_on_whatsapp(luck) if has_it else _beside_whatsapp(luck) for _ in range(some)]
        case _:
            return [_alert(luck) for _ in range(some)]


def _mails(some: int, luck: Random) -> list[list[_Line]]:
    begun = [_line("accepted")]
    match luck.randrange(10):
        case 0:
            # The address is gone; some mailboxes notice it after they have taken the mail.
            late = [_line("delivered")] if luck.random() < 0.5 else []
            return [[*begun, *late, _line("bounced")] for _ in range(some)]
        case 1:
            return [[*begun, _line("delivered"), _line("read"), _line("complaint")] for _ in range(some)]
        case 2:
            return [[*begun, _line("rejected")] for _ in range(some)]
        case 3:
            return [[*begun, _line("failed")] for _ in range(some)]
    return [[*begun, _line("delivered"), *[_line("read")] * luck.choice((0, 1, 2))] for _ in range(some)]


def _text(luck: Random) -> list[_Line]:
    begun = [_line("accepted"), _line("sent")]
    if luck.random() < 0.8:
        return [*begun, _line("delivered")]
    return [*begun, _line("failed", code=luck.choice(("30003", "30005", "30008", "39999")))]


def _on_whatsapp(luck: Random) -> list[_Line]:
    # Where somebody reads at once, Meta leaves `delivered` out.
    arrived = luck.choice(([_line("delivered")], [_line("delivered"), _line("read")], [_line("read")]))
    return [_line("sent"), *arrived]


def _beside_whatsapp(luck: Random) -> list[_Line]:
    """The message can't be delivered there, and a text follows."""
    there = [_line("sent"), _line("rejected")]
    text = _line("sent", step=2, micros=luck.choice((7000, 9000)))
    if luck.random() < 0.8:
        return [*there, text, _line("delivered", step=2)]
    return [*there, text, _line("failed", step=2, code="42")]


def _alert(luck: Random) -> list[_Line]:
    begun = [_line("accepted"), _line("sent", micros=luck.choice((6000, 7500, 9000)))]
    odd = [_line(luck.choice(ODD_WORDS), code=luck.choice((None, "e-17")))] if luck.random() < 0.6 else []
    match luck.randrange(5):
        case 0:
            return [*begun, *odd, _line("failed", code=luck.choice((None, "42")))]
        case 1:
            return [*begun, *odd, _line("rejected")]
        case 2:
            # The price that was told last is right.
            return [*begun, *odd, _line("delivered", micros=luck.choice((5000, 8000))), _line("read")]
    return [*begun, *odd, _line("delivered")]


def _timed(message: Message, course: Sequence[_Line], luck: Random) -> Iterator[Said]:
    at = luck.randrange(5400)
    for serial, (step, word, code, micros) in enumerate(course):
        at += luck.randrange(1, 900)
        yield Said(
            message=message, step=step, word=word, at=_seconds(at), serial=serial, code=code, micros=micros
        )


def _requests(told: Sequence[Said | Wrote], luck: Random) -> list[Request]:
    """Mostly one thing each; where a vendor tells several at once, those before wait for the next."""
    requests: list[Request] = []
    held: dict[tuple[str, int], list[Said]] = {}
    for one in told:
        if isinstance(one, Wrote):
            requests.append(Request(number=len(requests), at=one.at, wrote=one))
            continue
        # The platform's account speaks of all tenants' messages.
        account = (one.vendor, one.message.tenant if one.vendor in OWN_ACCOUNTS else -1)
        together = [*held.pop(account, []), one] if one.message.kind in _BUNDLES else [one]
        if one.message.kind in _BUNDLES and len(together) < 3 and luck.random() < _BUNDLED:
            held[account] = together
            continue
        requests.append(Request(number=len(requests), at=one.at, said=tuple(together)))
    return requests


def _seconds(count: int) -> timedelta:
    return timedelta(seconds=count)
