"""A vendor that is none: messages of test keys and to reserved addresses end here, always in the same way.

| e-mail, `@simulator.tidings.test` | telephone     | outcome                                    |
|-----------------------------------|---------------|--------------------------------------------|
| `delivered`                       | +15005550001  | taken                                      |
| `bounce`                          | +15005550002  | refused for good: there is no such address |
| `refused`                         | +15005550003  | refused for good by the vendor             |
| `later`                           | +15005550004  | try later, every time                      |
| `unlearned`                       | +15005550005  | the answer is never learned                |

A `+tag` before the @ is passed over. Whatever else reaches it is taken.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from tidings.contracts.adapters import Capabilities
from tidings.contracts.enums import CHANNELS
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, Refused, TryLater, Unlearned

SIMULATED: Final = "simulated"
DOMAIN: Final = "@simulator.tidings.test"

_FIXED: Final[Mapping[str, Outcome]] = {
    "bounce": Refused(reason="there is no such address (simulated)", code="5.1.1"),
    "refused": Refused(reason="refused (simulated)", code="5.7.1"),
    "later": TryLater(reason="try again later (simulated)", code="4.3.0"),
    "unlearned": Unlearned(reason="the vendor did not answer (simulated)"),
}
#: E.164 numbers that no person has.
_NUMBERS: Final[Mapping[str, str]] = {
    "+15005550001": "delivered",
    "+15005550002": "bounce",
    "+15005550003": "refused",
    "+15005550004": "later",
    "+15005550005": "unlearned",
}


def is_simulated(address: str) -> bool:
    """Whether an address is one of the reserved ones: it must never reach a vendor."""
    return address.endswith(DOMAIN) or address in _NUMBERS


class SimulatedAdapter:
    """Answers by the address alone."""

    name = SIMULATED
    channels = frozenset(CHANNELS)
    capabilities = Capabilities(html=True, attachments=True, idempotent=True)
    longest_send = timedelta(seconds=1)

    async def send(
        self,
        messages: Sequence[OutboundMessage],
        *,
        within: float | None = None,  # noqa: ARG002  # it answers at once
        learned: list[Outcome] | None = None,  # noqa: ARG002  # and can't be cut off
    ) -> Sequence[Outcome]:
        """One outcome each, in the same order."""
        return [_outcome(message) for message in messages]

    async def check(self) -> Outcome | None:
        """There is nobody to ask."""
        return None

    async def close(self) -> None:
        """There is nothing to close."""


def _outcome(message: OutboundMessage) -> Outcome:
    to = message.to
    name = to.removesuffix(DOMAIN).partition("+")[0] if to.endswith(DOMAIN) else _NUMBERS.get(to, "")
    return _FIXED.get(name) or Accepted(provider_message_id=f"sim_{message.message_id}")
