"""A look at an account as JSON."""

from typing import Annotated

from msgspec import Meta, Struct

from tidings.contracts.tenants import Channel
from tidings.kernel.mapping import by_name
from tidings.router.accounts.model import StoredAccount
from tidings.router.channel_configs.check import AccountCheck, DryCall
from tidings.router.channel_configs.check_steps import AccountCheckStep, StepName, StepResult

_Address = Annotated[str, Meta(min_length=1, max_length=4096)]


class CheckAdapter(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be looked at beside the usual."""

    #: Ask the vendor what it would say to a message, where it can be asked; nothing is sent.
    dry_call: bool = False
    #: Of that message; where it is left out one is chosen that belongs to nobody.
    to: _Address | None = None
    sender: _Address | None = None
    channel: Channel | None = None

    def call(self) -> DryCall | None:
        """The same for the inside."""
        return DryCall(channel=self.channel, to=self.to, sender=self.sender) if self.dry_call else None


class CheckStep(Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    name: StepName
    result: StepResult
    #: What was found.
    words: str
    #: What can be done about it.
    next: str | None
    #: The vendor's.
    code: str | None

    @classmethod
    def of(cls, step: AccountCheckStep) -> "CheckStep":
        """The step as it is shown."""
        return by_name(cls, step)


class AdapterCheck(Struct, frozen=True, kw_only=True):
    """What came of a look at an account."""

    account_id: str
    vendor: str
    #: Nothing failed.
    ok: bool
    steps: list[CheckStep]

    @classmethod
    def of(cls, account: StoredAccount, check: AccountCheck) -> "AdapterCheck":
        """The look as it is shown."""
        return cls(
            account_id=account.id,
            vendor=account.vendor,
            ok=check.ok,
            steps=[CheckStep.of(step) for step in check.steps],
        )
