"""Calls a tenant's webhook once, and says what became of it."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from tidings.contracts.messages import Refused, TryLater
from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError, NotConfiguredError
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger
from tidings.kernel.secrets import SecretNotFoundError, SecretResolver, SecretStoreError
from tidings.router.adapters.egress import Guard, NotAllowedThereError, public_only
from tidings.router.adapters.http_client.answers import outcome_of_failure, wait_of
from tidings.router.adapters.http_client.sender import HttpSender, VendorRequest
from tidings.router.inbound_routes.webhook_payload import signed

_log = get_logger("inbound_routes")
#: Gone: a webhook that says so wants no more.
_GONE: Final = 410


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookResult:
    """What became of a call."""

    delivered: bool
    #: What was answered; None where nothing was.
    status: int | None = None
    #: In our words, without an address.
    reason: str | None = None
    #: How long the webhook wants to be left alone.
    after: timedelta | None = None
    #: It is of no use to come again.
    final: bool = False


class WebhookCaller:
    """One pool of connections for all webhooks; none of them leads into our own network."""

    def __init__(
        self,
        secrets: SecretResolver,
        *,
        clock: Clock,
        guard: Guard = public_only,
        connections: int = 64,
        timeout_seconds: float = 10.0,
        ca_file: str | None = None,
    ) -> None:
        self._secrets = secrets
        self._clock = clock
        self._sender = HttpSender(
            guard=guard,
            connections=connections,
            connect_seconds=5.0,
            timeout_seconds=timeout_seconds,
            ca_file=ca_file,
        )

    async def call(
        self, tenant_id: TenantId, *, url: str, secret_ref: str, webhook_id: str, body: bytes
    ) -> WebhookResult:
        """Tell it; nothing that the webhook does makes this raise."""
        try:
            secret = await self._secrets.resolve(secret_ref, tenant_id=tenant_id)
        except (SecretNotFoundError, BadValueError, NotConfiguredError):
            return WebhookResult(delivered=False, reason="secret_not_found")
        except SecretStoreError:
            return WebhookResult(delivered=False, reason="secret_store")
        headers = signed(secret.reveal(), webhook_id=webhook_id, now=self._clock.now(), body=body)
        try:
            answer = await self._sender.call(VendorRequest(url=url, headers=headers, body=body))
        except Exception as error:  # noqa: BLE001  # whatever a webhook makes the library do, it is told
            _log.info("webhook_unanswered", tenant_id=tenant_id, error=type(error).__name__)
            return WebhookResult(delivered=False, reason=_reason(error))
        if 200 <= answer.status < 300:
            return WebhookResult(delivered=True, status=answer.status)
        return WebhookResult(
            delivered=False,
            status=answer.status,
            reason="gone" if answer.status == _GONE else "answered",
            after=wait_of(answer.retry_after, self._clock),
            final=answer.status == _GONE,
        )

    async def close(self) -> None:
        """End all connections."""
        await self._sender.close()


def _reason(error: Exception) -> str:
    # The library wraps what our own guard raises.
    if isinstance(getattr(error, "os_error", None), NotAllowedThereError):
        return "address"
    outcome = outcome_of_failure(error)
    if isinstance(outcome, TryLater | Refused):
        return outcome.code
    return "timeout" if isinstance(error, TimeoutError) else "unanswered"
