"""What confirmations cost: reckoned when they are noted as being sent, and taken back where the vendor took nothing.

A worker that dies in between has counted what may have been sent, as ladders do it. Each call is an attempt like those of ladders,
so that a vendor's receipt finds it and corrects its price.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, Unlearned
from tidings.kernel.ids import time_of
from tidings.kernel.mapping import by_name
from tidings.router.accounts.model import StoredAccount
from tidings.router.conversations.confirmation_store import ConfirmationAttempt, PendingConfirmation
from tidings.router.prices.price import price_of
from tidings.router.spend.model import SpendEntry, estimated
from tidings.router.state_machine.model import ATTEMPT
from tidings.router.state_machine.statuses import told_as
from tidings.router.vendors.simulated import SIMULATED
from tidings.router.vendors.vendors import Vendors


@dataclass(frozen=True, slots=True, kw_only=True)
class Reckoned:
    """A call that is about to be made."""

    #: The attempt's.
    id: str
    line_id: str
    channel: str
    #: Who is really called.
    vendor: str
    #: None with the simulated one.
    account_id: str | None
    #: 0 where no price is known.
    micros: int = 0
    currency: str | None = None


def reckon(
    sending: Iterable[PendingConfirmation],
    messages: Mapping[str, OutboundMessage],
    accounts: Mapping[str, StoredAccount],
    *,
    now: datetime,
) -> dict[str, Reckoned]:
    """By line: those that a vendor will be called for, because the account that the word came by is still there."""
    found: dict[str, Reckoned] = {}
    for one in sending:
        message = messages.get(one.id)
        account = None if one.vendor is None else accounts.get(one.vendor)
        if message is None or account is None or account.id != one.account_id:
            continue
        simulated = Vendors.of(account.vendor, message, is_test=False) == SIMULATED
        micros = 0 if simulated else price_of(account.prices, message)
        found[one.id] = Reckoned(
            id=ATTEMPT.new(now),
            line_id=one.id,
            channel=one.channel,
            vendor=SIMULATED if simulated else account.vendor,
            account_id=None if simulated else account.id,
            micros=micros,
            currency=account.prices.currency if account.prices is not None and micros else None,
        )
    return found


def spent_on(calls: Iterable[Reckoned]) -> list[SpendEntry]:
    """What is added to their days before they are made."""
    return [
        estimated(
            started_at=time_of(call.id),
            channel=call.channel,
            vendor=call.vendor,
            currency=call.currency,
            micros=call.micros,
        )
        for call in calls
        if call.currency is not None
    ]


def taken_back(calls: Iterable[tuple[Reckoned, Outcome]]) -> list[SpendEntry]:
    """The same with the other sign, for those that certainly cost nothing."""
    return [
        replace(one, messages=-one.messages, estimated=-one.estimated, real=-one.real)
        for one in spent_on(call for call, outcome in calls if not maybe_taken(outcome))
    ]


def attempts_of(calls: Iterable[tuple[Reckoned, Outcome]]) -> list[ConfirmationAttempt]:
    """What is kept of calls that were made."""
    found = []
    for call, outcome in calls:
        status, reason = told_as(outcome)
        paid = maybe_taken(outcome) and call.currency is not None
        found.append(
            by_name(
                ConfirmationAttempt,
                call,
                status=status,
                reason=reason,
                provider_message_id=outcome.provider_message_id if isinstance(outcome, Accepted) else None,
                micros=call.micros if paid else 0,
                currency=call.currency if paid else None,
            )
        )
    return found


def maybe_taken(outcome: Outcome) -> bool:
    """A vendor that may have taken it may have charged for it."""
    return isinstance(outcome, Accepted | Unlearned)
