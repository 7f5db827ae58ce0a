"""What a visitor of the portal changes; every change is in the audit under the name of the link."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

import msgspec

from tidings.contracts.text import Label
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.refusals import InvalidError
from tidings.kernel.signed_webhooks.call import WebhookResult
from tidings.kernel.urls import normalise_http_url
from tidings.notify.ids import WEBHOOK_DELIVERY
from tidings.notify.preference_center.tokens import hash_of
from tidings.notify.webhook_portal.event_choices import EventChoice, choices_of, chosen
from tidings.notify.webhook_portal.view import found_by, offered_to, pattern_of, shown_by
from tidings.notify.webhook_portal.visits import NoPortalError, PortalRefusedError, PortalVisit, missing
from tidings.notify.webhooks import portal_link_store, store
from tidings.notify.webhooks.change import WebhookChanger, WebhookPlan
from tidings.notify.webhooks.credentials import WebhookCredentials
from tidings.notify.webhooks.delivery_store import ChosenDeliveries
from tidings.notify.webhooks.errors import TooManyWebhooksError, UnknownWebhookError, WebhookPausedError
from tidings.notify.webhooks.model import StoredWebhook, WebhookDeliveryStatus, WebhookSettings
from tidings.notify.webhooks.redeliver import WebhookRedeliverer, WebhookRedelivery
from tidings.notify.webhooks.registry import WebhookRegistry
from tidings.notify.webhooks.routes import WebhookWake
from tidings.notify.webhooks.trial import WebhookTrier
from tidings.notify.webhooks.wire import host_of

#: Endpoints that one customer may have made here; the tenant may make more for them.
MOST_OF_CUSTOMER: Final = 20
#: For so long calls are signed with the secret before as well.
OVERLAP: Final = timedelta(days=1)
#: The keys of `errors` in the catalogues that stand beside a field.
FIELD_ERRORS: Final = ("url", "moved", "same", "name", "events")
_NO_CREDENTIALS: Final = WebhookCredentials()


class WrongFormError(Exception):
    """What a form says can't be: the keys of `errors` in the catalogues, by the fields of the form."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__(", ".join(errors))
        self.errors = errors


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointForm:
    """What a visitor wants of an endpoint, as they wrote it."""

    url: str
    name: str
    events: frozenset[str]
    #: Of the endpoint that the form was made of; empty for a new one.
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PortalDesk:
    """Changes endpoints of one link."""

    db: Database
    changer: WebhookChanger
    redeliverer: WebhookRedeliverer
    registry: WebhookRegistry
    wake: WebhookWake
    trier: WebhookTrier
    audit: AuditLog
    clock: Clock

    async def add(self, visit: PortalVisit, form: EndpointForm) -> tuple[StoredWebhook, str]:
        """A new endpoint of the customer, and its secret.

        It has the condition, the form and the limits of the webhook that the link was made for, so that it is told nothing
        of other customers; headers and credentials are that one's alone.
        """
        link = visit.link
        if link.customer is None:
            raise PortalRefusedError("closed", visit)
        try:
            async with self.db.tenant(visit.tenant_id) as tx:
                # Held: what ends the link waits for this form, or is seen by it.
                pattern = await store.find_webhook(tx, link.subscription_id, is_test=link.is_test, lock=True)
                await _refuse_ended(tx, visit)
                if pattern is None or not link.shows(pattern):
                    raise PortalRefusedError("closed", visit)
                await store.count_customer_alone(tx, link.customer, is_test=link.is_test)
                others = await shown_by(tx, visit)
                if len(others) >= MOST_OF_CUSTOMER:
                    raise PortalRefusedError("too_many", visit)
                settings = _written(
                    form,
                    replace(
                        pattern.settings,
                        header_names=(),
                        credentials_shown=_NO_CREDENTIALS.shown(),
                        event_types=(),
                    ),
                    choices_of(link.event_types),
                )
                _refuse_twin(settings, others)
                plan = WebhookPlan(settings=settings, headers={}, credentials=_NO_CREDENTIALS)
                with _in_words_of_the_form():
                    made = await self.changer.create(
                        tx, plan, secret=None, is_test=link.is_test, actor=link.actor
                    )
        except TooManyWebhooksError:
            raise PortalRefusedError("too_many", visit) from None
        self.registry.invalidate()
        return made

    async def change(self, visit: PortalVisit, webhook_id: str, form: EndpointForm) -> None:
        """Another address, name, or choice of events."""
        async with self._held(visit, webhook_id) as (tx, before):
            if form.version != str(before.version):
                raise PortalRefusedError("stale", visit, _place(visit, before))
            offered = offered_to(visit, before, await pattern_of(tx, visit))
            settings = _written(form, before.settings, offered)
            _refuse_move(before.settings, settings)
            others = [one for one in await shown_by(tx, visit) if one.id != before.id]
            _refuse_twin(settings, others)
            plan = WebhookPlan(settings=settings, headers=None, credentials=None)
            with _in_words_of_the_form():
                await self.changer.change(tx, before, plan, actor=visit.link.actor, by=visit.link.id)
        self.registry.invalidate()

    async def pause(self, visit: PortalVisit, webhook_id: str) -> None:
        """Call it no more for now."""
        async with self._held(visit, webhook_id) as (tx, before):
            await self.changer.pause(tx, before, actor=visit.link.actor)

    async def resume(self, visit: PortalVisit, webhook_id: str, *, discard: bool) -> None:
        """Call it again; `discard`: what has waited is not told."""
        async with self._held(visit, webhook_id) as (tx, before):
            await self.changer.resume(tx, before, discard=discard, actor=visit.link.actor)
        self.wake.set()

    async def rotate(self, visit: PortalVisit, webhook_id: str, *, version: str) -> tuple[StoredWebhook, str]:
        """Another secret, shown this once; a form that was sent before is refused, so that no secret is lost by a reload."""
        link = visit.link
        async with self._held(visit, webhook_id) as (tx, before):
            if version != str(before.version):
                raise PortalRefusedError("stale", visit, _place(visit, before))
            return await self.changer.rotate_secret(
                tx, before, secret=None, overlap=OVERLAP, actor=link.actor, by=link.id
            )

    async def delete(self, visit: PortalVisit, webhook_id: str) -> bool:
        """It is told nothing more; whether the link goes on. It ends with the webhook that it was made for."""
        link = visit.link
        async with self._held(visit, webhook_id) as (tx, before):
            await self.changer.delete(tx, before, actor=link.actor)
        self.registry.invalidate()
        return before.id != link.subscription_id

    async def redeliver(
        self, visit: PortalVisit, webhook_id: str, *, delivery_id: str | None
    ) -> WebhookRedelivery:
        """One delivery once more, or all that were given up, as far as goes at once."""
        chosen_ones = ChosenDeliveries(statuses=[WebhookDeliveryStatus.DEAD])
        if delivery_id is not None:
            ended = [*chosen_ones.statuses, WebhookDeliveryStatus.DELIVERED, WebhookDeliveryStatus.QUEUED]
            chosen_ones = ChosenDeliveries(statuses=ended, ids=[WEBHOOK_DELIVERY.parse(delivery_id)])
        async with self._held(visit, webhook_id) as (tx, before):
            done = await self.redeliverer.redeliver(
                tx, before, chosen_ones, dry_run=False, actor=visit.link.actor
            )
        self.wake.set()
        return done

    async def recover(self, visit: PortalVisit, webhook_id: str, *, span: timedelta) -> WebhookRedelivery:
        """All that it has missed lately, once each, as far as goes at once."""
        since = self.clock.now() - span
        async with self._held(visit, webhook_id) as (tx, before):
            done = await self.redeliverer.recover(
                tx, before, since=since, dry_run=False, actor=visit.link.actor
            )
        self.wake.set()
        return done

    async def test(self, visit: PortalVisit, webhook_id: str) -> tuple[WebhookResult, int]:
        """One call with an event that never happened; what came of it, and how many milliseconds it took."""
        async with self._held(visit, webhook_id) as (tx, webhook):
            entry = Entry(
                entity_type="webhook",
                entity_id=webhook.id,
                action="webhook.tested",
                actor=visit.link.actor,
            )
            await self.audit.append(tx, [entry])
        began = self.clock.monotonic()
        try:
            result = await self.trier.try_webhook(
                visit.tenant_id, webhook.id, is_test=visit.link.is_test, role=None
            )
        except UnknownWebhookError:
            # It was deleted since its line in the audit.
            raise missing(visit) from None
        return result, round((self.clock.monotonic() - began) * 1000)

    @asynccontextmanager
    async def _held(
        self, visit: PortalVisit, webhook_id: str
    ) -> AsyncIterator[tuple[TenantTx, StoredWebhook]]:
        try:
            async with self.db.tenant(visit.tenant_id) as tx:
                webhook = await found_by(tx, visit, webhook_id, lock=True)
                await _refuse_ended(tx, visit)
                yield tx, webhook
        except WebhookPausedError:
            raise PortalRefusedError("paused", visit, f"{visit.home}/endpoints/{webhook_id}") from None


@contextmanager
def _in_words_of_the_form() -> Iterator[None]:
    """What the API would say of its fields, said of those of the form."""
    try:
        yield
    except InvalidError as error:
        fields = {wrong.field.partition("[")[0] for wrong in error.errors}
        wrong = {field: field for field in fields & {"url", "events"}} or {"url": "url"}
        raise WrongFormError(wrong) from None


async def _refuse_ended(tx: TenantTx, visit: PortalVisit) -> None:
    """Under the lock: whoever ended the link meanwhile has ended this form with it."""
    if await portal_link_store.find_link(tx, hash_of(visit.text)) is None:
        raise NoPortalError("unknown", visit.words, visit.brand)


def _written(form: EndpointForm, before: WebhookSettings, offered: Sequence[EventChoice]) -> WebhookSettings:
    """The settings that a form asks for."""
    errors: dict[str, str] = {}
    name = form.name.strip() or host_of(form.url)
    try:
        msgspec.convert(name, Label)
    except msgspec.ValidationError:
        errors["name"] = "name"
    url = normalise_http_url(form.url.strip())
    if url is None:
        errors["url"] = "url"
    events = chosen(form.events, offered, before.event_types)
    if not events:
        errors["events"] = "events"
    if errors or url is None:
        raise WrongFormError(errors)
    # The same choice in another order is the same.
    if set(events) == set(before.event_types):
        events = before.event_types
    return replace(before, name=name, target_url=url, event_types=events)


def _refuse_move(before: WebhookSettings, after: WebhookSettings) -> None:
    """The tenant's own headers and credentials go where the tenant sends them, and nowhere else."""
    shown = before.credentials_shown or {}
    guarded = before.header_names or any(shown.values())
    if guarded and urlsplit(before.target_url)[:2] != urlsplit(after.target_url)[:2]:
        raise WrongFormError({"url": "moved"})


def _refuse_twin(settings: WebhookSettings, others: list[StoredWebhook]) -> None:
    """A form that is sent twice makes one endpoint."""
    told = set(settings.event_types)
    if any(
        one.settings.target_url == settings.target_url and set(one.settings.event_types) == told
        for one in others
    ):
        raise WrongFormError({"url": "same"})


def _place(visit: PortalVisit, webhook: StoredWebhook) -> str:
    return f"{visit.home}/endpoints/{webhook.id}"
