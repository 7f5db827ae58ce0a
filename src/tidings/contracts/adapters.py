"""What every vendor's adapter is to the rest of the system."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol, runtime_checkable

from tidings.contracts.messages import OutboundMessage, Outcome

#: The sender that would go out is not granted to the tenant.
NOT_GRANTED: Final = "sender_unauthorised"
#: Codes with which we speak of ourselves: the vendor was not asked. No vendor's own code is ever passed on as one of these.
OUR_CODES: Final = frozenset(
    {
        "account_not_found",
        "account_off",
        "account_secret",
        "account_settings",
        "account_unusable",
        "address",
        "closed",
        "inbox_busy",
        "internal",
        "late",
        "no_account",
        "notify_away",
        "secret_store",
        NOT_GRANTED,
        "vendor_limit",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What an adapter can do, so that it need not be tried."""

    #: Takes HTML beside the text.
    html: bool = False
    #: Takes files, attached or inline.
    attachments: bool = False
    #: The vendor recognises a repeated message by its id: repeating an unlearned one is safe.
    idempotent: bool = False
    #: The vendor tells later what became of a message.
    receipts: bool = False
    #: A message that the vendor has taken can be called back: the adapter is one of `Cancels`.
    cancel: bool = False
    #: People can write back.
    inbound: bool = False


class Adapter(Protocol):
    """Hands messages to one account at one vendor."""

    @property
    def name(self) -> str:
        """As the registry calls it."""
        ...

    @property
    def channels(self) -> frozenset[str]:
        """What it can send over."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        ...

    @property
    def longest_send(self) -> timedelta:
        """A call of `send` has returned after this; a lease on the work has to be longer."""
        ...

    async def send(
        self,
        messages: Sequence[OutboundMessage],
        *,
        within: float | None = None,
        learned: list[Outcome] | None = None,
    ) -> Sequence[Outcome]:
        """Hand them over: one outcome each, in the same order; nothing a vendor does makes it raise.

        `within`: the seconds that each message has from the moment at which the vendor is asked to take it, where that is
        less than the account's own. Waiting for its turn in the set does not count.

        `learned` comes with one `Unlearned` for each message and is kept up to date meanwhile: an answer is put in its place as soon
        as it is read, because a process that is killed in the next moment must have it noted. A caller that cancels the call finds
        in it what is certain: the answers that came, `TryLater` with the code `late` for what was never begun.
        """
        ...

    async def check(self) -> Outcome | None:
        """Ask the vendor whether it takes our credentials, and send nothing; None where it can't be asked that.

        `Accepted`: it does. `Refused`: it does not. `TryLater`: it could not be asked just now.
        """
        ...

    async def close(self) -> None:
        """End all connections; messages that wait are given back as `TryLater`."""
        ...


@runtime_checkable
class Cancels(Protocol):
    """An adapter that can cancel messages that were not delivered yet."""

    async def cancel(self, provider_message_ids: Sequence[str]) -> Sequence[bool]:
        """Call them back, by the vendor's own ids: one answer each, in the same order; nothing makes it raise.

        True: the vendor has said that it sends this one no more. False: too late, unknown, or no answer.
        """
        ...


@runtime_checkable
class DryCalls(Protocol):
    """An adapter of a vendor that can be asked what it would say to a message, without sending it."""

    async def dry_call(self, message: OutboundMessage) -> Outcome:
        """What it would say; nothing is sent, and nothing a vendor does makes it raise."""
        ...
