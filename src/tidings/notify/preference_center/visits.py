"""A visit by a link: which recipient it belongs to, whether it still works, and what the page has to know about them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from tidings.contracts.tenants import Channel
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.hot_state import Limits, Take
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.pepper import Pepper
from tidings.kernel.limit_windows import FixedWindow
from tidings.notify.facts.load import FactsLoader
from tidings.notify.facts.model import Facts, PersonFacts, SharedFacts
from tidings.notify.preference_center import store
from tidings.notify.preference_center.choices import offers_for
from tidings.notify.preference_center.frame import PageBrand
from tidings.notify.preference_center.pages import Offer
from tidings.notify.preference_center.reach import find_reach
from tidings.notify.preference_center.strings import PageStrings, strings_for
from tidings.notify.preference_center.tokens import (
    Purpose,
    StoredToken,
    hash_of,
    no_address,
    tenant_of_token,
)
from tidings.notify.refusals import store as refusal_store
from tidings.notify.refusals.model import EVERYTHING, ChannelAddress
from tidings.notify.templates.digest_template import digest_templates
from tidings.notify.templates.resolve import TemplateResolver

_MINUTE: Final = timedelta(minutes=1)
#: Changes by one link. Mail providers click for many people from one place, so places are not counted here.
_PER_LINK: Final = FixedWindow(30, _MINUTE)
#: Links that are none, from one network: a guess, or a scanner that is lost.
_PER_GUESSER: Final = FixedWindow(60, _MINUTE)


class NoVisitError(Exception):
    """There is no page for this link; says why, and in which language."""

    def __init__(self, why: str, words: PageStrings | None = None) -> None:
        super().__init__(why)
        #: `unknown`, `expired` or `busy`.
        self.why = why
        self.words = words


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkVisit:
    """A link that works, and the recipient it is for."""

    tenant_id: TenantId
    text: str = field(repr=False)
    token: StoredToken
    facts: Facts
    #: Where this person can be reached at all.
    channels: tuple[Channel, ...]
    #: The address that the link was sent to; where an older link does not say, all that they have on its channel.
    places: tuple[ChannelAddress, ...] = ()
    #: What was refused from there, by category; by this person or by another one with the same address.
    refused: frozenset[str] = frozenset()
    #: The categories that the tenant sends.
    used: frozenset[str] = frozenset()
    #: Category by category, the channels that its digests can come by.
    gathering: Mapping[str, frozenset[Channel]] = field(default_factory=dict)

    @property
    def person(self) -> PersonFacts:
        """Who came."""
        return self.facts.people[self.token.scope.recipient_id]

    @property
    def words(self) -> PageStrings:
        """Their language."""
        return strings_for(self.person.locale)

    @property
    def brand(self) -> PageBrand:
        """The tenant, as it appears on the channel that the link came by."""
        return PageBrand.of(self.facts.tenant.brand_on(self.token.scope.channel))

    @property
    def evidence(self) -> str:
        """How the ledger refers to the link."""
        return f"token:{self.token.id}"

    @property
    def proven(self) -> tuple[ChannelAddress, ...]:
        """The address that a yes is good for: one of several that a link does not tell apart may be another person's."""
        return self.places if len(self.places) == 1 else ()

    @property
    def everything_off(self) -> bool:
        """Whether they want nothing at all, or their address does."""
        return self.person.choices.global_unsubscribed_at is not None or EVERYTHING in self.refused

    def offers(self) -> list[Offer]:
        """What can be chosen, as it stands."""
        return offers_for(
            self.person.choices,
            self.facts.categories,
            self.channels,
            self.facts.tenant.policy.preference_defaults,
            digests=self.facts.tenant.policy.digest_schedule,
            gathering=self.gathering,
            refused={self.token.scope.channel: self.refused},
            used=self.used | ({self.token.scope.category} if self.token.scope.category else frozenset()),
            locale=self.person.locale,
        )

    @property
    def scope_name(self) -> str:
        """What the page calls that which the link is about."""
        return self.name_of(self.token.scope.category)

    def name_of(self, category: str | None) -> str:
        """What the page calls a category."""
        policy = self.facts.categories.get(category) if category is not None else None
        if policy is None:
            return self.words.category(category)
        named = policy.name_for(self.person.locale) or (
            policy.fallback_name if policy.owner == "tenant" else None
        )
        return named or self.words.category(category)


class Places:
    """Where visitors come from: known by a hash only, under a pepper that never leaves us and never changes."""

    def __init__(self, loader: FactsLoader) -> None:
        self._loader = loader
        self._pepper: Pepper | None = None

    async def name(self, came_from: str) -> str:
        """How a place is called; the database is asked the first time only."""
        if self._pepper is None:
            self._pepper = (await self._loader.shared()).platform_pepper
        return self._pepper.hash(no_address(f"visitor:{came_from}"))


class LinkVisits:
    """Opens visits, and counts those that are too many."""

    def __init__(
        self,
        db: Database,
        *,
        loader: FactsLoader,
        templates: TemplateResolver,
        limits: Limits,
        clock: Clock,
    ) -> None:
        self._db = db
        self._templates = templates
        self._loader = loader
        self._limits = limits
        self._clock = clock
        self._places = Places(loader)

    async def open(self, text: str, *, came_from: str, purpose: Purpose = "opt_out") -> LinkVisit:
        """The visit by this link; a `NoVisitError` where there is none."""
        tenant_id = tenant_of_token(text)
        # What is no token at all is counted first, and nothing is looked up for it.
        if tenant_id is not None:
            shared = await self._loader.shared()
            async with self._db.tenant(tenant_id) as tx:
                visit = await self._find(tx, shared, text, purpose)
            if visit is not None:
                return replace(visit, gathering=await self._gathering(visit))
        place = await self._places.name(came_from)
        taken = await self._limits.take(None, [[Take(key=f"opt-out:guess:{place}", limit=_PER_GUESSER)]])
        raise NoVisitError("unknown" if taken[0].granted else "busy")

    async def refuse_too_many(self, visit: LinkVisit) -> None:
        """Count a change by this link; a `NoVisitError` where there were too many."""
        take = Take(key=f"opt-out:link:{visit.token.id}", limit=_PER_LINK)
        if not (await self._limits.take(visit.tenant_id, [[take]]))[0].granted:
            raise NoVisitError("busy", visit.words)

    async def _gathering(self, visit: LinkVisit) -> dict[str, frozenset[Channel]]:
        """Where there is a template for digests; remembered, and asked with no transaction open."""
        categories = [policy.category for policy in visit.facts.categories.values() if policy.may_digest]
        found = await digest_templates(
            self._templates,
            {(visit.tenant_id, category, channel) for category in categories for channel in visit.channels},
        )
        return {
            category: frozenset(
                channel for channel in visit.channels if found[visit.tenant_id, category, channel].channels
            )
            for category in categories
        }

    async def _find(self, tx: TenantTx, shared: SharedFacts, text: str, purpose: Purpose) -> LinkVisit | None:
        token = await store.find_token(tx, hash_of(text))
        if token is None or token.purpose != purpose:
            return None
        recipient_id = token.scope.recipient_id
        facts = await self._loader.load(tx, shared, [recipient_id], guardians=False)
        person = facts.people.get(recipient_id)
        if person is None:
            return None
        if token.expires_at <= self._clock.now() or person.erased:
            raise NoVisitError("expired", strings_for(person.locale))
        reach = await find_reach(tx, facts.tenant, recipient_id, now=self._clock.now())
        scope = token.scope
        places = (
            reach.places_on(scope.channel)
            if scope.address_hash is None
            else (ChannelAddress(scope.channel, scope.address_hash),)
        )
        refusals = await refusal_store.find_at(tx, places)
        return LinkVisit(
            tenant_id=tx.tenant_id,
            used=reach.used,
            text=text,
            token=token,
            facts=facts,
            channels=tuple(reach.channels | {scope.channel}),
            places=places,
            refused=frozenset(refusal.category or EVERYTHING for refusal in refusals),
        )
