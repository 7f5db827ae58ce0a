"""What one vendor's protocol is to the sandbox: its requests, its answers, its callbacks."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Literal, TypeAlias

from tidings.sandbox.hooks import SandboxHook
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse
from tidings.sandbox.receipts import SandboxReceipt

#: Why the vendor says no, to be put into its own words.
Trouble: TypeAlias = Literal["invalid_recipient", "blocked", "throttled", "unavailable", "unauthorised"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmittedMessage:
    """A message that the vendor was asked to send."""

    channel: str
    sender: str = field(repr=False)
    to: tuple[str, ...] = field(repr=False)
    #: What the vendor knows a repeat by; empty where it knows none.
    key: str = ""
    #: What its sender calls it, where the vendor gives that back.
    reference: str = ""
    #: What the page shows of it, where the dialect says so; otherwise the page looks in the body for usual names.
    subject: str | None = field(default=None, repr=False)
    text: str | None = field(default=None, repr=False)
    html: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundText:
    """What a person writes back."""

    #: The vendor's id of it.
    id: str
    channel: str
    #: Their address, and where they write to.
    sender: str = field(repr=False)
    to: str
    text: str = field(repr=False)
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRequest:
    """A request to a hook, as the vendor makes it."""

    method: str = "POST"
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    #: Whose receipts it carries; none for what a person wrote.
    receipts: Sequence[SandboxReceipt] = ()


class Dialect(ABC):
    """One vendor's protocol; its API is under `/{name}/` of the sandbox."""

    #: As the adapter is called.
    name: ClassVar[str]
    #: Whether the vendor ever tells what became of a message.
    tells: ClassVar[bool] = True

    @abstractmethod
    def read(self, request: SandboxRequest) -> SubmittedMessage | SandboxResponse:
        """What is to be sent; or the answer to another request: a question, bad credentials, nonsense.

        The path of the request begins behind `/{name}`.
        """

    @abstractmethod
    def accepted(self, asked: SubmittedMessage, message_id: str) -> SandboxResponse:
        """The vendor has taken it, under this id of the sandbox or one that is made of it."""

    @abstractmethod
    def refused(self, asked: SubmittedMessage, trouble: Trouble, retry_after: int | None) -> SandboxResponse:
        """The vendor's own words for that; `retry_after` is in seconds."""

    def receipts(
        self, receipts: Sequence[SandboxReceipt], hook: SandboxHook, now: datetime
    ) -> Sequence[WebhookRequest]:
        """Callbacks that tell these, signed with the hook's secret; a forged one with another. None unless it `tells`."""
        return ()

    def inbound(self, said: InboundText, hook: SandboxHook, now: datetime) -> WebhookRequest | None:
        """The callback that tells what a person wrote; None where this vendor tells none."""
        return None
