"""The use case "a person looks at what they hear, and changes it", with their inbox token."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from tidings.contracts.tenants import Channel
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.hot_state import Limits, Take
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.ids import TenantId
from tidings.kernel.limit_windows import FixedWindow
from tidings.kernel.refusals import FieldError, InvalidError, TooBusyError
from tidings.notify.facts.load import FactsLoader
from tidings.notify.facts.model import SharedFacts
from tidings.notify.inbox.desk import InboxDesk, InboxVisitor
from tidings.notify.inbox_preferences.offers import PersonalOffers
from tidings.notify.inbox_preferences.wire import ChangeInboxPreferences, InboxPreferencesView
from tidings.notify.preference_center.choices import IN_APP_INBOX, all_off
from tidings.notify.preference_center.reach import Reach, find_reach
from tidings.notify.recipients.change_preferences import PreferenceChanger
from tidings.notify.recipients.preference_store import load_preferences
from tidings.notify.recipients.preferences_model import Choices, Preferences, nothing_chosen
from tidings.notify.refusals import store as refusal_store
from tidings.notify.refusals.model import EVERYTHING, ChannelAddress
from tidings.notify.refusals.refuse import Refuser

_IN_APP: Final[Channel] = "inapp"
#: Changes by one person: as the pages let through, twice, because each switch is a change here.
_PER_PERSON: Final = FixedWindow(60, timedelta(minutes=1))
_ALONE: Final = "goes alone; leave categories out"


class TooManyPreferenceChangesError(TooBusyError):
    """More changes of preferences than are let through in a minute; try again after the time in Retry-After."""

    code = "too_many_preference_changes"
    #: Seconds: by then the minute is over.
    retry_after = 60.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class _Standing:
    offers: PersonalOffers
    places: tuple[ChannelAddress, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InboxPreferencesDesk:
    """Serves people with an inbox token; who is let in is for the desk of the inbox to say."""

    db: Database
    desk: InboxDesk
    loader: FactsLoader
    changer: PreferenceChanger
    refuser: Refuser
    limits: Limits
    clock: Clock

    async def show(
        self, tenant_id: TenantId, visitor: InboxVisitor, locale: str | None
    ) -> InboxPreferencesView:
        """What they hear now."""
        shared = await self.loader.shared()
        async with self.db.tenant(tenant_id) as tx:
            standing = await self._standing(tx, shared, visitor, locale)
            recipient_id = visitor.key.recipient_id
            found = await load_preferences(tx, recipient_ids=[recipient_id])
            return InboxPreferencesView.of(
                found.get(recipient_id) or nothing_chosen(recipient_id), standing.offers
            )

    async def change(
        self,
        tenant_id: TenantId,
        visitor: InboxVisitor,
        wanted: ChangeInboxPreferences,
        if_match: IfMatch,
        locale: str | None,
    ) -> InboxPreferencesView:
        """What they hear after a change, with the line in the ledger that says that they said so here."""
        if wanted.everything_off and wanted.categories:
            raise InvalidError([FieldError("everything_off", _ALONE)])
        recipient_id = visitor.key.recipient_id
        take = Take(key=f"inbox-preferences:{recipient_id}", limit=_PER_PERSON)
        if not (await self.limits.take(tenant_id, [[take]]))[0].granted:
            raise TooManyPreferenceChangesError
        shared = await self.loader.shared()
        async with self.db.tenant(tenant_id) as tx:
            standing = await self._standing(tx, shared, visitor, locale)
            offers, actor, evidence = standing.offers, f"recipient:{recipient_id}", _evidence(visitor)
            seen: list[Choices] = []

            def make(before: Preferences) -> Choices:
                if_match.expect(before.version)
                seen.append(before.choices)
                if wanted.everything_off:
                    return all_off(before.choices, now=self.clock.now())
                return offers.after(before.choices, wanted.categories, evidence=evidence)

            after = await self.changer.change(
                tx,
                recipient_id,
                make,
                categories=offers.categories,
                actor=actor,
                source=IN_APP_INBOX,
                evidence=evidence,
            )
            for channel, words in offers.words_for_addresses(
                seen[0], after.choices, wanted.categories
            ).items():
                places = [place for place in standing.places if place.channel == channel]
                await self.refuser.allow(tx, places, words.allow, source=IN_APP_INBOX, actor=actor)
                await self.refuser.refuse(
                    tx,
                    recipient_id,
                    places,
                    words.refuse,
                    source=IN_APP_INBOX,
                    evidence=evidence,
                    preferences_version=after.version,
                    announced=True,
                )
            now_standing = await self._standing(tx, shared, visitor, locale)
            return InboxPreferencesView.of(after, now_standing.offers)

    async def _standing(
        self, tx: TenantTx, shared: SharedFacts, visitor: InboxVisitor, locale: str | None
    ) -> _Standing:
        await self.desk.admit(tx, visitor)
        recipient_id = visitor.key.recipient_id
        facts = await self.loader.load(tx, shared, [recipient_id], guardians=False)
        reach = await find_reach(tx, facts.tenant, recipient_id, now=self.clock.now())
        refusals = await refusal_store.find_at(tx, reach.places)
        offers = PersonalOffers(
            categories=facts.categories,
            # They are in it: it reaches them, whether the tenant has set it up or not.
            channels=reach.channels | {_IN_APP},
            defaults=facts.tenant.policy.preference_defaults,
            used=reach.used,
            refused=_by_channel(reach, [(one.channel, one.category or EVERYTHING) for one in refusals]),
            locale=locale or facts.people[recipient_id].locale,
        )
        return _Standing(offers=offers, places=reach.places)


def _evidence(visitor: InboxVisitor) -> str:
    """How the ledger refers to it: the tenant's backend vouched for who they are when it made the token."""
    made = visitor.since
    return "inbox token" if made is None else f"inbox token made {made:%Y-%m-%dT%H:%M:%SZ}"


def _by_channel(reach: Reach, refused: Iterable[tuple[Channel, str]]) -> dict[Channel, frozenset[str]]:
    found: dict[Channel, set[str]] = {place.channel: set() for place in reach.places}
    for channel, category in refused:
        found[channel].add(category)
    return {channel: frozenset(categories) for channel, categories in found.items()}
