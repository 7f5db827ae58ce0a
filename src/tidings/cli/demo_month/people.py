"""The people of the month: made up from a seed, with numbers that telephone companies keep free for films."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tidings.cli.demo_month.dice import dice

_GIVEN: Final = [
    "Laila",
    "Omid",
    "Sara",
    "Jonas",
    "Mina",
    "Farid",
    "Amélie",
    "Hugo",
    "Noor",
    "Tariq",
    "Elena",
    "Marco",
    "Zahra",
    "Peter",
    "Yusuf",
    "Ines",
    "Karim",
    "Anna",
    "Rahim",
    "Lucía",
    "Dina",
    "Samir",
    "Clara",
    "Idris",
    "Maryam",
    "Paul",
    "Leila",
    "Stefan",
    "Hana",
    "Bashir",
]
_FAMILY: Final = [
    "Noori",
    "Ahmadi",
    "Weber",
    "Rossi",
    "Haddad",
    "Martin",
    "Karimi",
    "Silva",
    "Novak",
    "Rahimi",
    "Berger",
    "Moreau",
    "Sadat",
    "Klein",
    "Fontaine",
    "Aziz",
    "Lindqvist",
    "Costa",
    "Popal",
    "Schmidt",
]
#: Locale, time zone.
_PLACES: Final = (
    ("en-US", "America/New_York"),
    ("en-GB", "Europe/London"),
    ("fr", "Europe/Paris"),
    ("ar", "Asia/Dubai"),
    ("fa-AF", "Asia/Kabul"),
    ("en-US", "America/Chicago"),
)
#: 555-0100 to 555-0199 of an area belong to nobody.
_AREAS: Final = (
    202,
    212,
    213,
    303,
    305,
    312,
    404,
    415,
    503,
    512,
    602,
    614,
    617,
    702,
    713,
    718,
    808,
    907,
    916,
    919,
)
#: What a number's vendor does with messages to it: the sandbox's scripts, by how many of a hundred people have such a number.
_FATES: Final = (("read", 16), ("unreachable", 3), ("failed", 3), ("never", 2), ("late:4", 4))


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """Somebody who is written to."""

    number: int
    given_name: str
    locale: str
    timezone: str
    tags: Sequence[str]
    addresses: Mapping[str, str]
    #: The sandbox's script for their number; None: what it usually does.
    fate: str | None
    wants_offers: bool
    sleeps: bool
    wants_digest: bool
    opens_mails: bool

    @property
    def identity(self) -> Mapping[str, str]:
        """Who they are in the hotels' own systems."""
        return {"type": "guest", "id": f"demo-guest-{self.number:04}"}

    def line(self, display_name: str) -> Mapping[str, Any]:
        """The line of an import."""
        return {
            "identity": self.identity,
            "display_name": display_name,
            "locale": self.locale,
            "timezone": self.timezone,
            "tags": list(self.tags),
            "addresses": [{"channel": name, "address": one} for name, one in self.addresses.items()],
        }


def guests(seed: int, count: int) -> Sequence[Guest]:
    """The same for the same seed; a larger month has the same people and more."""
    return [_guest(dice(seed, "guest", number), number) for number in range(count)]


def full_name(seed: int, guest: Guest) -> str:
    """What they are called; given name and family name."""
    return f"{guest.given_name} {dice(seed, 'family', guest.number).choice(_FAMILY)}"


def _guest(chance: random.Random, number: int) -> Guest:
    locale, timezone = chance.choice(_PLACES)
    given = chance.choice(_GIVEN)
    phone = f"+1{_AREAS[number // 100 % len(_AREAS)]}5550{100 + number % 100}"
    addresses = {"email": f"guest-{number:04}@example.test", "sms": phone, "inapp": f"demo-guest-{number:04}"}
    for channel, address, share in (
        ("whatsapp", phone, 0.6),
        ("push", f"telephone-{number:04}", 0.4),
        ("telegram", str(700_000_000 + number), 0.25),
        ("viber", f"viber-demo-{number:04}", 0.2),
        ("voice", phone, 0.3),
    ):
        if chance.random() < share:
            addresses[channel] = address
    roll, fate = chance.randrange(100), None
    for name, share in _FATES:
        if roll < share:
            fate = name
            break
        roll -= share
    return Guest(
        number=number,
        given_name=given,
        locale=locale,
        timezone=timezone,
        tags=[
            chance.choice(("harbour", "old_town", "airport")),
            *(["vip"] if chance.random() < 0.15 else []),
        ],
        addresses=addresses,
        fate=fate,
        wants_offers=chance.random() < 0.75,
        sleeps=chance.random() < 0.25,
        wants_digest=chance.random() < 0.3,
        opens_mails=chance.random() < 0.45,
    )
