"""A visit by a portal link: what it shows, whether it still works, and what of it may be changed from where."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Literal
from urllib.parse import urlsplit

from structlog.contextvars import bind_contextvars

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.errors import MissingReferenceError
from tidings.kernel.hot_state import Limits, Take
from tidings.kernel.http.places import PlaceLimit, place_of
from tidings.kernel.http.requests import Request
from tidings.kernel.http.tenant_gate import TenantGate
from tidings.kernel.ids import TenantId
from tidings.kernel.limit_windows import FixedWindow
from tidings.kernel.refusals import RefusalError
from tidings.notify.facts import store as facts_store
from tidings.notify.preference_center.frame import PageBrand
from tidings.notify.preference_center.tokens import hash_of, tenant_of_token
from tidings.notify.webhook_portal.strings import PortalStrings, strings_for
from tidings.notify.webhooks import portal_link_store
from tidings.notify.webhooks.model import WebhookPortalLink

#: Changes by one link, and calls of endpoints.
_PER_LINK: Final = FixedWindow(60, timedelta(minutes=1))
_CALLS_PER_LINK: Final = FixedWindow(10, timedelta(minutes=1))
#: Links that are none, from one place in a minute.
_MOST_GUESSES: Final = 60

NoPortal = Literal["unknown", "expired", "missing", "busy", "down"]
#: The keys of `errors` in the catalogues that are about a whole request.
Refusal = Literal["read_only", "elsewhere", "busy", "too_many", "closed", "paused", "stale", "frozen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PortalVisit:
    """A link that works, and who made it."""

    tenant_id: TenantId
    text: str = field(repr=False)
    link: WebhookPortalLink
    words: PortalStrings
    brand: PageBrand

    @property
    def home(self) -> str:
        """Where its pages are."""
        return f"/portal/{self.text}"


class NoPortalError(Exception):
    """There is no page here; says why, and in which language."""

    def __init__(
        self,
        why: NoPortal,
        words: PortalStrings,
        brand: PageBrand | None = None,
        *,
        link: WebhookPortalLink | None = None,
        home: str | None = None,
    ) -> None:
        super().__init__(why)
        self.why = why
        self.words = words
        self.brand = brand
        #: Sites that may show it in a frame.
        self.embed_origins = () if link is None else link.embed_origins
        #: Where the way goes on, where it does.
        self.home = home


class PortalRefusedError(Exception):
    """What a visitor asks for is not done; says why, in words."""

    def __init__(self, why: Refusal, visit: PortalVisit, back: str | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.visit = visit
        #: A page to go on with.
        self.back = back or visit.home


def missing(visit: PortalVisit) -> NoPortalError:
    """What the address names is not there, or is nobody's of this link."""
    return NoPortalError("missing", visit.words, visit.brand, link=visit.link, home=visit.home)


class PortalVisits:
    """Opens visits, and counts what is too much."""

    def __init__(self, db: Database, *, gate: TenantGate, limits: Limits, clock: Clock) -> None:
        self._db = db
        self._gate = gate
        self._limits = limits
        self._clock = clock
        self._guesses = PlaceLimit(_MOST_GUESSES, clock=clock)

    async def open(self, text: str, request: Request) -> PortalVisit:
        """The visit by this link; a `NoPortalError` where there is none."""
        accepted = request.header("accept-language")
        tenant_id = tenant_of_token(text)
        # What is no token at all is counted, and nothing is looked up for it.
        visit = None if tenant_id is None else await self._find(tenant_id, text, accepted)
        if visit is not None:
            bind_contextvars(tenant_id=visit.tenant_id, caller_id=visit.link.actor)
            return visit
        too_many = self._guesses.count(place_of(request.scope)) is not None
        raise NoPortalError("busy" if too_many else "unknown", strings_for(None, accepted))

    async def open_to_change(self, text: str, request: Request, *, calls_out: bool = False) -> PortalVisit:
        """The visit by a form of ours; a `PortalRefusedError` where it may not change anything, or not now.

        `calls_out`: an endpoint is called for it, which is let happen less often.
        """
        visit = await self.open(text, request)
        if not came_from_us(request):
            raise PortalRefusedError("elsewhere", visit)
        if not visit.link.may_change:
            raise PortalRefusedError("read_only", visit)
        try:
            await self._gate.check(visit.tenant_id, writes=True)
        except RefusalError:
            raise PortalRefusedError("frozen", visit) from None
        limit = _CALLS_PER_LINK if calls_out else _PER_LINK
        take = Take(key=f"webhook-portal:{'call' if calls_out else 'change'}:{visit.link.id}", limit=limit)
        if not (await self._limits.take(visit.tenant_id, [[take]]))[0].granted:
            raise PortalRefusedError("busy", visit)
        return visit

    async def _find(self, tenant_id: TenantId, text: str, accepted: str | None) -> PortalVisit | None:
        async with self._db.tenant(tenant_id) as tx:
            link = await portal_link_store.find_link(tx, hash_of(text))
            if link is None:
                return None
            try:
                tenant = await facts_store.load_tenant(tx)
            except MissingReferenceError:
                return None
        words = strings_for(link.locale, accepted, tenant.locale)
        brand = PageBrand.of(tenant.brand_on("webhook"))
        if link.expires_at <= self._clock.now():
            raise NoPortalError("expired", words, brand, link=link)
        try:
            await self._gate.check(tenant_id, writes=False)
        except RefusalError:
            raise NoPortalError("down", words, brand, link=link) from None
        return PortalVisit(tenant_id=tenant_id, text=text, link=link, words=words, brand=brand)


def came_from_us(request: Request) -> bool:
    """Whether a form was sent by a page of ours, as far as the browser says.

    The address of the form is a secret in itself; this keeps out whoever got hold of one and sends its holder there from
    another site. Browsers call the origin `null` here, because our pages tell nobody where one came from.
    """
    site = request.header("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = request.header("origin")
    if origin is None or origin == "null":
        return True
    return urlsplit(origin).netloc == request.header("host")
