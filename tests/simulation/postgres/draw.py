"""What a seed says of a world on Postgres: policies, accounts, messages, and how unlucky everybody is."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Final

from tests.simulation.conduct import Conduct
from tests.simulation.pure.draw import Weather, weather
from tidings.contracts.enums import Priority, UseCase
from tidings.contracts.ladder import Hours, Strategy, Success
from tidings.contracts.prices import PriceModel
from tidings.contracts.tenants import Channel
from tidings.router.accounts.model import ADAPTER_CONFIG, StoredAccount
from tidings.router.policies.model import POLICY, Conditions, Policy, PolicyStep

_CHANNELS: Final[tuple[Channel, ...]] = ("email", "sms", "whatsapp")
_USE_CASES: Final[tuple[UseCase, ...]] = ("otp", "alert", "txn")
_PRIORITIES: Final[tuple[Priority, ...]] = ("critical", "high", "normal", "low")
_SUCCESS: Final[tuple[Success, ...]] = ("delivered",) * 6 + ("read",) * 3 + ("accepted", "sent")
_STRATEGIES: Final[tuple[Strategy, ...]] = ("SEQUENTIAL", "PARALLEL", "PARALLEL", "FAILOVER")


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who is to be written to."""

    use_case: UseCase
    priority: Priority
    lives: timedelta
    #: None: by the tenant's policy.
    channel: Channel | None
    gates: dict[int, Weather]
    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Everything that is there before anything happens."""

    policies: list[Policy]
    accounts: list[StoredAccount]
    vendors: dict[str, Conduct]
    circuits: dict[str, Weather]
    people: list[Person]
    dies: float
    loses: float
    #: How likely the database is away at the border of a transaction.
    stumbles: float
    workers: int


def draw(luck: Random, now: datetime) -> Setting:
    """One world."""
    vendors: dict[str, Conduct] = {}
    accounts: list[StoredAccount] = []
    for channel in _CHANNELS:
        for letter in "ab":
            name = f"http_{channel}_{letter}"
            price = luck.choice((0, 700, 5_000))
            vendors[name] = Conduct(name, luck, price=price, receipts=luck.random() < 0.9)
            accounts.append(_account(luck, name, price, now))
    hour = timedelta(hours=1)
    use_cases = luck.sample(_USE_CASES, luck.randint(1, 3))
    return Setting(
        policies=[_policy(luck, use_case, now) for use_case in use_cases],
        accounts=accounts,
        vendors=vendors,
        circuits={name: weather(luck, now, hour, kinds=("open",)) for name in vendors},
        people=[_person(luck, luck.choice(use_cases), now) for _ in range(luck.randint(4, 10))],
        dies=luck.choice((0.0, 0.005, 0.02)),
        loses=luck.choice((0.0, 0.0, 0.1)),
        stumbles=luck.choice((0.0, 0.0, 0.02)),
        workers=luck.randint(2, 3),
    )


def _account(luck: Random, vendor: str, price: int, now: datetime) -> StoredAccount:
    return StoredAccount(
        id=ADAPTER_CONFIG.new(now),
        platform=False,
        vendor=vendor,
        handle=None,
        secret_ref=f"file://{vendor}",
        per_second=1 if luck.random() < 0.1 else None,
        per_day=None,
        prices=PriceModel(currency="USD", base_micros=price) if price else None,
    )


def _policy(luck: Random, use_case: UseCase, now: datetime) -> Policy:
    strategy = luck.choice(_STRATEGIES)
    one_channel = luck.choice(_CHANNELS)
    count = luck.randint(2, 3) if strategy == "PARALLEL" else luck.randint(1, 3)
    if strategy == "FAILOVER":
        count = 1
    steps = tuple(
        _step(luck, one_channel if strategy == "FAILOVER" else luck.choice(_CHANNELS)) for _ in range(count)
    )
    return Policy(
        id=POLICY.new(now),
        use_case=use_case,
        strategy=strategy,
        order=luck.choice(("fixed", "fixed", "learned", "cheapest")),
        ladder=steps,
        cost_cap_micros=luck.choice((None, 0, 700, 5_000, 6_000, 15_000)),
        cost_cap_currency="USD",
        session_ttl_seconds=3600,
        stop_keywords=(),
        description=None,
        version=1,
        created_at=now,
        updated_at=now,
    )


def _step(luck: Random, channel: Channel) -> PolicyStep:
    hours = None
    if luck.random() < 0.15:
        # It closes within minutes, so that some messages come too late for it.
        hours = Hours(start="00:00", end=luck.choice(("09:00", "15:00", "21:00")), timezone="Asia/Kabul")
    prefixes = ("+93",) if luck.random() < 0.1 else None
    return PolicyStep(
        channel=channel,
        deadline_seconds=luck.choice((3, 30, 300, 1_200)),
        retry_budget=luck.choice((0, 1, 2)),
        success=luck.choice(_SUCCESS),
        conditions=Conditions(hours=hours, prefixes=prefixes) if hours or prefixes else None,
    )


def _person(luck: Random, use_case: UseCase, now: datetime) -> Person:
    lives = timedelta(seconds=luck.choice((1, 20, 200, 2_000, 3_600)) * luck.uniform(0.5, 1.5))
    return Person(
        use_case=use_case,
        priority=luck.choice(_PRIORITIES),
        lives=lives,
        channel=luck.choice(_CHANNELS) if luck.random() < 0.1 else None,
        gates={
            step: weather(luck, now, lives, kinds=("skip", "wait", "wait", "ends")) for step in range(1, 7)
        },
        to=luck.choice(("+93700000001", "+49301234567")),
    )
