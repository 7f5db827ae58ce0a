"""The houses: what they are called, where they stand, which rooms they have."""

from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Final, Literal
from zoneinfo import ZoneInfo


@dataclass(frozen=True, kw_only=True)
class House:
    """A hotel or a school."""

    id: str
    name: str
    kind: Literal["hotel", "school"]
    timezone: str
    #: How many rooms each floor or wing has.
    floors: dict[str, int]
    lock_vendor: str

    @cached_property
    def zone(self) -> ZoneInfo:
        """Whose "today" it is."""
        return ZoneInfo(self.timezone)

    @cached_property
    def rooms(self) -> tuple[tuple[str, str], ...]:
        """Floor and room of each."""
        return tuple(
            (floor, f"{floor}{number:02d}" if self.kind == "hotel" else f"{floor}-{number}")
            for floor, many in self.floors.items()
            for number in range(1, many + 1)
        )


HOUSES: Final = (
    House(
        id="kabul-garden",
        name="Kabul Garden Hotel",
        kind="hotel",
        timezone="Asia/Kabul",
        floors={"1": 12, "2": 14, "3": 14, "4": 8},
        lock_vendor="doorline",
    ),
    House(
        id="lagos-marina",
        name="Lagos Marina Suites",
        kind="hotel",
        timezone="Africa/Lagos",
        floors={"1": 16, "2": 18, "3": 18, "4": 18, "5": 10},
        lock_vendor="keystone",
    ),
    House(
        id="muscat-harbour",
        name="Muscat Harbour Inn",
        kind="hotel",
        timezone="Asia/Muscat",
        floors={"1": 10, "2": 12, "3": 6},
        lock_vendor="doorline",
    ),
    House(
        id="herat-school",
        name="Herat Boarding School",
        kind="school",
        timezone="Asia/Kabul",
        floors={"East": 16, "West": 16, "Hall": 8},
        lock_vendor="keystone",
    ),
)
BY_ID: Final = {house.id: house for house in HOUSES}

GUESTS: Final = (
    "Laila Noor", "Omar Haidari", "Zahra Ahmadi", "Farid Karimi", "Amina Bello", "Chinedu Okafor", "Ngozi Eze",
    "Tunde Adeyemi", "Yusuf Al Harthi", "Salma Al Balushi", "Khalid Al Zadjali", "Maryam Rahimi", "Idris Musa",
    "Elena Petrova", "Jonas Weber", "Chiara Rossi", "Aiko Tanaka", "Liam O'Brien", "Sofia Silva", "Noah Martin",
    "Fatima Sadat", "Hamid Rasouli", "Grace Mensah", "Samuel Addo", "Priya Nair", "Arjun Mehta", "Mei Lin", "Ivan Horvat",
)  # fmt: skip
STAFF: Final = ("staff-01", "staff-02", "staff-03", "staff-04", "staff-05", "staff-06")


def chance(*of: object) -> Random:
    """Chance that is the same each time for the same thing."""
    return Random("/".join(map(str, of)))  # noqa: S311  # made-up guests are no secret
