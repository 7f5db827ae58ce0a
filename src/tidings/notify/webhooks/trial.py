"""The use case "does my webhook work": one signed call with an event that never happened."""

from dataclasses import KW_ONLY, dataclass
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import CallerRole, Database
from tidings.kernel.ids import EVENT, TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.signed_webhooks.call import WebhookCall, WebhookCaller, WebhookResult
from tidings.notify.ids import WebhookId
from tidings.notify.webhooks import store
from tidings.notify.webhooks.body import WebhookBodyTooLargeError, body_of
from tidings.notify.webhooks.credentials import WebhookCredentialKeeper
from tidings.notify.webhooks.errors import UnknownWebhookError
from tidings.notify.webhooks.model import SEALED_FOR
from tidings.notify.webhooks.sealing import open_headers, open_secrets

#: Of an event that never happened.
TRIAL_TYPE: Final = "webhook.test"
_SAID: Final = b'{"text":"This is a test: nothing has happened."}'


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WebhookTrier:
    """Tries webhooks."""

    db: Database
    caller: WebhookCaller
    credentials: WebhookCredentialKeeper
    _: KW_ONLY
    keyring: Keyring
    clock: Clock

    async def try_webhook(
        self, tenant_id: TenantId, webhook_id: WebhookId, *, is_test: bool, role: CallerRole | None
    ) -> WebhookResult:
        """Call it once, whatever its status; no transaction is open meanwhile, and nothing is kept."""
        async with self.db.tenant(tenant_id, caller_role=role) as tx:
            webhook = await store.find_webhook(tx, webhook_id, is_test=is_test)
            sealed = await store.find_sealed(tx, webhook_id)
            keys = await self.keyring.data_keys(tx, [SEALED_FOR], create=False)
        if webhook is None or sealed is None:
            raise UnknownWebhookError
        now, key = self.clock.now(), keys[SEALED_FOR]
        secrets = open_secrets(
            key,
            sealed["signing_secret_ciphertext"],
            sealed["signing_secret_prev_ciphertext"],
            sealed["signing_secret_prev_until"],
            now=now,
        )
        ready = await self.credentials.ready(key, sealed["credentials_ciphertext"])
        if ready.failure is not None:
            return ready.failure
        event_id = EVENT.new(now)
        try:
            body = body_of(TRIAL_TYPE, event_id, now, _SAID, webhook.settings.transform)
        except WebhookBodyTooLargeError:
            return WebhookResult(delivered=False, reason="too_large")
        return await self.caller.call(
            WebhookCall(
                url=webhook.settings.target_url,
                secrets=secrets,
                webhook_id=event_id,
                body=body,
                headers={**open_headers(key, sealed["headers_ciphertext"]), **ready.headers},
                context=ready.context,
                within=float(webhook.settings.timeout_seconds),
            )
        )
