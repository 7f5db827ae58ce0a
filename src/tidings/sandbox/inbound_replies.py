"""What people write back: told to the vendor's hook as that vendor tells it, or over the vendor's own connection."""

import asyncio
from collections.abc import Mapping
from itertools import count
from typing import Final, Protocol

from tidings.kernel.clock import Clock
from tidings.kernel.refusals import NotFoundError
from tidings.sandbox.dialects.dialect import InboundText
from tidings.sandbox.hooks import SandboxHooks
from tidings.sandbox.receipt_format import ReceiptFormat
from tidings.sandbox.store import ReceivedMessage
from tidings.sandbox.webhook_client import WebhookClient

_PATIENCE_SECONDS: Final = 15.0


class ConnectionVendor(Protocol):
    """A vendor that tells what people write over a connection of its own, and not to a hook."""

    async def write(self, *, sender: str, to: str, text: str) -> bool:
        """Whether a client has taken all of it."""
        ...


class InboundReplies:
    """Lets people write."""

    def __init__(
        self,
        clock: Clock,
        *,
        run: str,
        hooks: SandboxHooks,
        wording: ReceiptFormat,
        carrier: WebhookClient,
        voices: Mapping[str, ConnectionVendor] | None = None,
    ) -> None:
        """`run` makes ids of this sandbox differ from those of every other; `voices` are by the vendor's name."""
        self._clock = clock
        self._run = run
        self._hooks = hooks
        self._wording = wording
        self._carrier = carrier
        self._voices = voices or {}
        self._numbers = count(1)

    async def write(self, vendor: str, *, channel: str, sender: str, to: str, text: str) -> tuple[str, int]:
        """Tell it, once: its id, and what the hook answered, 0 for nothing."""
        said = InboundText(
            id=f"sbi_{self._run}_{next(self._numbers)}",
            channel=channel,
            sender=sender,
            to=to,
            text=text,
            at=self._clock.now(),
        )
        if (voice := self._voices.get(vendor)) is not None:
            return said.id, await _spoken(voice, said)
        hook = self._hooks.of(vendor)
        if hook is None:
            raise NotFoundError(f"there is no hook for that vendor; PUT /hooks/{vendor} sets one")
        dialect = self._wording.dialect_of(vendor)
        call = dialect.inbound(said, hook, self._clock.now()) if dialect is not None else None
        if call is None:
            raise NotFoundError("nobody can write back to that vendor over that channel")
        return said.id, await self._carrier.tell([call], vendor)

    def is_answerable(self, message: ReceivedMessage) -> bool:
        """Whether the person who got it can write back, and a hook or connection would take it."""
        if not message.sender or len(message.to) != 1:
            return False
        if message.vendor in self._voices:
            return True
        hook, dialect = self._hooks.of(message.vendor), self._wording.dialect_of(message.vendor)
        if hook is None or dialect is None:
            return False
        trial = InboundText(
            id="trial",
            channel=message.channel,
            sender=message.to[0],
            to=message.sender,
            text="",
            at=message.received_at,
        )
        try:
            return dialect.inbound(trial, hook, message.received_at) is not None
        except Exception:  # noqa: BLE001  # a hook whose secret is none of that vendor's
            return False


async def _spoken(voice: ConnectionVendor, said: InboundText) -> int:
    """200 where it was taken; 0 where no client takes it in time."""
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return 200 if await voice.write(sender=said.sender, to=said.to, text=said.text) else 0
    except TimeoutError:
        return 0
