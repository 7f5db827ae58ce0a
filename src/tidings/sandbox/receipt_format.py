"""How each vendor tells what became of messages: receipts as requests to its hook, in its dialect or in the generic form."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

import msgspec

from tidings.contracts.callbacks import Callback, CallbackCost, CallbackEvent
from tidings.contracts.channel_configs import adapter_of
from tidings.kernel.logs import get_logger
from tidings.sandbox.dialects.dialect import Dialect, WebhookRequest
from tidings.sandbox.hooks import SandboxHook, signed
from tidings.sandbox.receipts import SandboxReceipt

_log = get_logger("sandbox")


class ReceiptFormat:
    """Knows the dialects."""

    def __init__(self, dialects: Mapping[str, Dialect]) -> None:
        self._dialects = dialects

    def dialect_of(self, vendor: str) -> Dialect | None:
        """That of `twilio` and of `twilio_backup`; None: this vendor tells things in the generic form."""
        name = adapter_of(vendor, self._dialects)
        return None if name is None else self._dialects[name]

    def tells(self, vendor: str) -> bool:
        """Whether it ever tells what became of a message."""
        dialect = self.dialect_of(vendor)
        return dialect is None or dialect.tells

    def calls(
        self,
        vendor: str,
        receipts: Sequence[SandboxReceipt],
        hook: SandboxHook,
        now: datetime,
        *,
        webhook_id: str,
    ) -> Sequence[WebhookRequest]:
        """The requests that tell these, which are all forged or none; no request where the vendor has no word for them."""
        dialect = self.dialect_of(vendor)
        if dialect is not None:
            return _spoken(dialect, receipts, hook, now)
        body = msgspec.json.encode(Callback(events=[_event(receipt) for receipt in receipts]))
        forged = receipts[0].beat.forged
        headers = signed(hook, webhook_id=webhook_id, body=body, now=now, forged=forged)
        return [WebhookRequest(url=hook.url, headers=headers, body=body, receipts=receipts)]

    def together(
        self, vendor: str, receipts: Sequence[SandboxReceipt], hook: SandboxHook | None, now: datetime
    ) -> Iterator[Sequence[SandboxReceipt]]:
        """Those that one request tells: a hook that refuses one of them gets only that one again."""
        dialect = self.dialect_of(vendor)
        if dialect is None or hook is None:
            yield receipts
            return
        left = dict.fromkeys(receipts)
        for call in _spoken(dialect, receipts, hook, now):
            carried = [receipt for receipt in call.receipts if receipt in left]
            for receipt in carried:
                del left[receipt]
            if carried:
                yield carried
        if left:
            yield list(left)


def _spoken(
    dialect: Dialect, receipts: Sequence[SandboxReceipt], hook: SandboxHook, now: datetime
) -> Sequence[WebhookRequest]:
    try:
        return dialect.receipts(receipts, hook, now)
    except Exception as error:  # noqa: BLE001  # one vendor's mistake, or a secret that is none of it: the others get theirs
        _log.error("sandbox.receipts_unworded", dialect=dialect.name, error=type(error).__name__)
        return ()


def _event(receipt: SandboxReceipt) -> CallbackEvent:
    beat = receipt.beat
    cost = beat.cost
    return CallbackEvent(
        id=receipt.id,
        message_id=receipt.message_id,
        status=beat.status,
        occurred_at=receipt.happened_at,
        code=beat.code,
        reason=beat.reason,
        cost=CallbackCost(micros=cost.micros, currency=cost.currency) if cost is not None else None,
    )
