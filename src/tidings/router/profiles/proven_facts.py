"""Takes in what others know for certain: which mailbox is proven, and under which id a messenger knows a recipient."""

from collections.abc import Mapping
from datetime import datetime

from tidings.contracts.ids import RecipientId
from tidings.kernel.db import TenantTx
from tidings.router.profiles import store
from tidings.router.profiles.facts import FactName, SealedId, Value
from tidings.router.profiles.model import Profile
from tidings.router.profiles.observe import told

#: Told of one person: facts, and since when each is known.
News = Mapping[FactName, tuple[Value, datetime]]


class StoredMailboxNews:
    """The contract's `MailboxNews`."""

    async def told(self, tx: TenantTx, proven: Mapping[str, bool], *, at: datetime) -> None:
        """Write whether each has a verified mail address."""
        await hear(
            tx, {RecipientId(who): {"email_verified": (known, at)} for who, known in proven.items()}, now=at
        )


async def hear(tx: TenantTx, news: Mapping[RecipientId, News], *, now: datetime) -> None:
    """Take in facts about a set of people, of each fact the later word: one statement where all is known, three at most.

    Of a recipient who was erased nothing is kept. All of a set are locked in one order.
    """
    if not news:
        return
    before = await store.load(tx, sorted(news))
    changed = [who for who in news if _is_news(before.get(who), news[who])]
    if not changed:
        return
    opened = await store.open_profiles(tx, changed, now=now)
    await store.write_profiles(tx, [_after(profile, news[who], now) for who, profile in opened.items()])


def _is_news(profile: Profile | None, news: News) -> bool:
    """An id that is known already is sealed anew each time: it counts by its hash."""
    return profile is None or any(
        _essence(value) != _essence(profile.facts[name].value if name in profile.facts else False)
        for name, (value, _) in news.items()
    )


def _essence(value: Value) -> object:
    return value.hash if isinstance(value, SealedId) else value


def _after(profile: Profile, news: News, now: datetime) -> Profile:
    for name, (value, at) in news.items():
        profile = told(profile, {name: value}, at=min(at, now))
    return profile
