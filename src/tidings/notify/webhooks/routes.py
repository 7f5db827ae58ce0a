"""Operations on webhooks, and on the deliveries to them."""

from datetime import timedelta
from typing import Final

from tidings.kernel.db import TenantTx
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.injection import AfterCommit
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.resources import Resource
from tidings.kernel.ids import TenantId
from tidings.notify.ids import WebhookDeliveryId, WebhookId
from tidings.notify.webhooks import delivery_store, store
from tidings.notify.webhooks.change import WebhookChanger, held
from tidings.notify.webhooks.delivery_wire import (
    ListWebhookDeliveries,
    RecoverWebhook,
    RedeliverWebhook,
    WebhookDeliveryDetail,
    WebhookDeliveryView,
    WebhookRedeliveryView,
)
from tidings.notify.webhooks.errors import UnknownWebhookDeliveryError, UnknownWebhookError
from tidings.notify.webhooks.model import StoredWebhook
from tidings.notify.webhooks.portal_link_wire import CreateWebhookPortalLink, WebhookPortalLinkView
from tidings.notify.webhooks.portal_links import WebhookPortalLinks
from tidings.notify.webhooks.redeliver import WebhookRedeliverer
from tidings.notify.webhooks.registry import WebhookRegistry
from tidings.notify.webhooks.told_bodies import ToldBodies
from tidings.notify.webhooks.trial import WebhookTrier
from tidings.notify.webhooks.view import NewWebhook, WebhookTrialView, WebhookView
from tidings.notify.webhooks.wire import (
    ChangeWebhook,
    CreateWebhook,
    ListWebhooks,
    ResumeWebhook,
    RotateWebhookSecret,
)

webhooks = Resource("webhooks", at="/webhooks", tag="webhooks", scope="webhooks")

_ONE: Final = "/{webhook_id}"
_KNOWN: Final = ["webhook_not_found"]
_EXAMPLE: Final = {"url": "https://example.com/hooks/tidings", "events": ["notification.delivered.v1"]}
_AS_USUAL: Final = RotateWebhookSecret()
_WITH_ALL: Final = ResumeWebhook()
_GIVEN_UP: Final = RedeliverWebhook()
_ANY_LINK: Final = CreateWebhookPortalLink()


class WebhookWake(Wakeup):
    """Wakes those who call webhooks, in this process; others are notified by the database."""


@webhooks.post(status=201, test_keys=True, idempotent=True, problems=["too_many_webhooks"], example=_EXAMPLE)
async def create_webhook(
    tx: TenantTx,
    body: CreateWebhook,
    caller: Caller,
    changer: WebhookChanger,
    registry: WebhookRegistry,
    after_commit: AfterCommit,
) -> Answer[NewWebhook]:
    """Make a webhook: an address that is told of events, and its secret, shown this once.

    Each event is a POST of `{"type", "timestamp", "data"}`, signed as Standard Webhooks are, and repeated for a day
    until it is answered with 2xx. `webhook-id` is the event's id, the same however often it is told. With a test key it
    hears of tests alone.
    """
    after_commit(registry.invalidate)
    made, secret = await changer.create(
        tx, body.plan(), secret=body.own_secret(), is_test=_is_test(caller), actor=caller.actor
    )
    location = f"/api/v1/webhooks/{made.id}"
    return Answer(NewWebhook.made(made, secret), version=made.version, location=location)


@webhooks.get(test_keys=True, listing="webhooks")
async def list_webhooks(
    tx: TenantTx, query: ListWebhooks, caller: Caller, paging: Paging
) -> Page[WebhookView]:
    """List webhooks, the newest first."""
    rows = await store.list_webhooks(
        tx,
        is_test=_is_test(caller),
        status=query.wanted(),
        customer=query.customer,
        after_id=paging.after_id,
        limit=paging.fetch,
    )
    return paging.page(rows, WebhookView.of)


@webhooks.get(_ONE, test_keys=True, problems=_KNOWN)
async def show_webhook(tx: TenantTx, webhook_id: WebhookId, caller: Caller) -> Answer[WebhookView]:
    """Show a webhook, and how it answers."""
    return _shown(await _known(tx, webhook_id, caller))


@webhooks.patch(_ONE, test_keys=True, if_match="optional", problems=_KNOWN)
async def change_webhook(
    tx: TenantTx,
    webhook_id: WebhookId,
    body: ChangeWebhook,
    if_match: IfMatch,
    caller: Caller,
    changer: WebhookChanger,
    registry: WebhookRegistry,
    after_commit: AfterCommit,
) -> Answer[WebhookView]:
    """Change a webhook; what is left out stays, and what waits is told by the new settings too."""
    after_commit(registry.invalidate)
    before = await held(tx, webhook_id, is_test=_is_test(caller))
    if_match.expect(before.version)
    return _shown(await changer.change(tx, before, body.plan(before), actor=caller.actor))


@webhooks.delete(_ONE, test_keys=True, if_match="optional", problems=_KNOWN)
async def delete_webhook(
    tx: TenantTx,
    webhook_id: WebhookId,
    if_match: IfMatch,
    caller: Caller,
    changer: WebhookChanger,
    registry: WebhookRegistry,
    after_commit: AfterCommit,
) -> None:
    """Delete a webhook: it is told nothing more, and what waits for it goes nowhere. `pause` keeps what happens meanwhile."""
    after_commit(registry.invalidate)
    before = await held(tx, webhook_id, is_test=_is_test(caller))
    if_match.expect(before.version)
    await changer.delete(tx, before, actor=caller.actor)


@webhooks.post(f"{_ONE}/pause", test_keys=True, problems=_KNOWN)
async def pause_webhook(
    tx: TenantTx, webhook_id: WebhookId, caller: Caller, changer: WebhookChanger
) -> Answer[WebhookView]:
    """Call a webhook no more for now; what happens meanwhile waits, and is told when it is resumed."""
    before = await held(tx, webhook_id, is_test=_is_test(caller))
    return _shown(await changer.pause(tx, before, actor=caller.actor))


@webhooks.post(f"{_ONE}/resume", test_keys=True, problems=_KNOWN)
async def resume_webhook(
    tx: TenantTx,
    webhook_id: WebhookId,
    caller: Caller,
    changer: WebhookChanger,
    wake: WebhookWake,
    after_commit: AfterCommit,
    body: ResumeWebhook = _WITH_ALL,
) -> Answer[WebhookView]:
    """Call a webhook again that was paused or disabled: first with all that has waited, unless it is discarded."""
    after_commit(wake.set)
    before = await held(tx, webhook_id, is_test=_is_test(caller))
    return _shown(await changer.resume(tx, before, discard=body.discard_waiting, actor=caller.actor))


@webhooks.post(
    f"{_ONE}/rotate-secret",
    test_keys=True,
    idempotent=True,
    attested="credential.change",
    problems=_KNOWN,
)
async def rotate_webhook_secret(
    tx: TenantTx,
    webhook_id: WebhookId,
    caller: Caller,
    changer: WebhookChanger,
    body: RotateWebhookSecret = _AS_USUAL,
) -> Answer[NewWebhook]:
    """Sign with another secret, shown this once; for a day calls are signed with the one before as well."""
    before = await held(tx, webhook_id, is_test=_is_test(caller))
    after, secret = await changer.rotate_secret(
        tx,
        before,
        secret=body.own_secret(),
        overlap=timedelta(seconds=body.overlap_seconds),
        actor=caller.actor,
    )
    return Answer(NewWebhook.made(after, secret), version=after.version)


@webhooks.get(
    f"{_ONE}/deliveries", verb="deliveries", test_keys=True, listing="webhook_deliveries", problems=_KNOWN
)
async def list_webhook_deliveries(
    tx: TenantTx, webhook_id: WebhookId, query: ListWebhookDeliveries, caller: Caller, paging: Paging
) -> Page[WebhookDeliveryView]:
    """List what a webhook was told, is told and will be told, the newest first; kept for 90 days at least."""
    await _known(tx, webhook_id, caller)
    rows = await delivery_store.list_deliveries(
        tx,
        webhook_id,
        after_id=paging.after_id,
        status=query.wanted(),
        event_type=query.event_type,
        event_id=query.wanted_event(),
        limit=paging.fetch,
    )
    return paging.page(rows, WebhookDeliveryView.of)


@webhooks.get(
    f"{_ONE}/deliveries/{{delivery_id}}",
    verb="delivery",
    test_keys=True,
    problems=[*_KNOWN, "webhook_delivery_not_found"],
)
async def show_webhook_delivery(
    tx: TenantTx, webhook_id: WebhookId, delivery_id: WebhookDeliveryId, caller: Caller, bodies: ToldBodies
) -> WebhookDeliveryDetail:
    """Show a delivery with its calls, and the body that is told."""
    webhook = await _known(tx, webhook_id, caller)
    found = await delivery_store.find_delivery(tx, webhook_id, delivery_id)
    if found is None:
        raise UnknownWebhookDeliveryError
    delivery, sealed = found
    return WebhookDeliveryDetail.with_body(delivery, await bodies.read(tx, webhook, delivery, sealed))


@webhooks.post(f"{_ONE}/redeliver", status=202, test_keys=True, problems=[*_KNOWN, "webhook_paused"])
async def redeliver_webhook(
    tx: TenantTx,
    webhook_id: WebhookId,
    caller: Caller,
    redeliverer: WebhookRedeliverer,
    wake: WebhookWake,
    after_commit: AfterCommit,
    body: RedeliverWebhook = _GIVEN_UP,
) -> WebhookRedeliveryView:
    """Tell deliveries once more, at once and then for a day: some by their ids, or all that fit; at most 10,000 at a time.

    All that were given up, where nothing is said. Each has the same `webhook-id` as before. `dry_run` only counts.
    """
    after_commit(wake.set)
    webhook = await held(tx, webhook_id, is_test=_is_test(caller))
    return WebhookRedeliveryView.of(
        await redeliverer.redeliver(tx, webhook, body.chosen(), dry_run=body.dry_run, actor=caller.actor)
    )


@webhooks.post(f"{_ONE}/recover", status=202, test_keys=True, problems=[*_KNOWN, "webhook_paused"])
async def recover_webhook(
    tx: TenantTx,
    webhook_id: WebhookId,
    body: RecoverWebhook,
    caller: Caller,
    redeliverer: WebhookRedeliverer,
    wake: WebhookWake,
    after_commit: AfterCommit,
) -> WebhookRedeliveryView:
    """Tell a webhook all that it has missed since then, each event once; one that was disabled is called again.

    At most 10,000 that were given up at a time: repeat it while `more` is true. `dry_run` only counts.
    """
    after_commit(wake.set)
    webhook = await held(tx, webhook_id, is_test=_is_test(caller))
    return WebhookRedeliveryView.of(
        await redeliverer.recover(tx, webhook, since=body.since, dry_run=body.dry_run, actor=caller.actor)
    )


@webhooks.post(f"{_ONE}/test", verb="test", test_keys=True, problems=_KNOWN)
async def test_webhook(
    tenant_id: TenantId, webhook_id: WebhookId, caller: Caller, trier: WebhookTrier
) -> WebhookTrialView:
    """Call a webhook once with an event that never happened, signed as real ones are; its type is `webhook.test`."""
    return WebhookTrialView.of(
        await trier.try_webhook(tenant_id, webhook_id, is_test=_is_test(caller), role=caller.role)
    )


@webhooks.post(f"{_ONE}/portal-links", verb="portal", status=201, test_keys=True, problems=_KNOWN)
async def create_webhook_portal_link(
    tx: TenantTx,
    webhook_id: WebhookId,
    caller: Caller,
    links: WebhookPortalLinks,
    body: CreateWebhookPortalLink = _ANY_LINK,
) -> WebhookPortalLinkView:
    """Make a link to the webhook portal, to be handed to the customer whose endpoint this is; its address is shown this once.

    It opens in a browser without any other login, shows the endpoint with its deliveries, and lets whoever opens it change, pause,
    test and recover it. Where the webhook has a `customer`, it shows all of that customer's, and more can be added. It ends
    by its time, when the webhook is deleted, and when a webhook that it shows gets another secret, other events or another condition.
    """
    # Held: a change that ends links beside it ends this one as well, or is told before it.
    webhook = await held(tx, webhook_id, is_test=_is_test(caller))
    return WebhookPortalLinkView.of(await links.make(tx, webhook, body.plan(), actor=caller.actor))


@webhooks.delete(f"{_ONE}/portal-links", verb="close-portal", test_keys=True, problems=_KNOWN)
async def end_webhook_portal_links(
    tx: TenantTx, webhook_id: WebhookId, caller: Caller, links: WebhookPortalLinks
) -> None:
    """End all portal links that show a webhook, at once: where it has a `customer`, all links of that customer."""
    webhook = await held(tx, webhook_id, is_test=_is_test(caller))
    await links.end(tx, webhook, actor=caller.actor)


def _is_test(caller: Caller) -> bool:
    return caller.environment == "test"


def _shown(webhook: StoredWebhook) -> Answer[WebhookView]:
    return Answer(WebhookView.of(webhook), version=webhook.version)


async def _known(tx: TenantTx, webhook_id: WebhookId, caller: Caller) -> StoredWebhook:
    found = await store.find_webhook(tx, webhook_id, is_test=_is_test(caller))
    if found is None:
        raise UnknownWebhookError
    return found
