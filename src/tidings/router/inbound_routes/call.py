"""Calls the webhook of an inbound route, signed with the secret that the route names."""

from tidings.kernel.errors import BadValueError, NotConfiguredError
from tidings.kernel.ids import TenantId
from tidings.kernel.secrets import SecretNotFoundError, SecretResolver, SecretStoreError
from tidings.kernel.signed_webhooks.call import WebhookCall, WebhookCaller, WebhookResult
from tidings.kernel.signed_webhooks.secrets import secrets_of


class RouteCaller:
    """Finds the secret, and calls."""

    def __init__(self, secrets: SecretResolver, caller: WebhookCaller) -> None:
        self._secrets = secrets
        self._caller = caller

    async def call(
        self, tenant_id: TenantId, *, url: str, secret_ref: str, webhook_id: str, body: bytes
    ) -> WebhookResult:
        """Tell it; nothing that the webhook does makes this raise."""
        try:
            secret = (await self._secrets.resolve(secret_ref, tenant_id=tenant_id)).reveal()
        except (SecretNotFoundError, BadValueError, NotConfiguredError):
            return WebhookResult(delivered=False, reason="secret_not_found")
        except SecretStoreError:
            return WebhookResult(delivered=False, reason="secret_store")
        # A secret may be several while one takes the place of another: signed with each.
        secrets = secrets_of(secret) or (secret,)
        return await self._caller.call(
            WebhookCall(url=url, secrets=secrets, webhook_id=webhook_id, body=body)
        )
