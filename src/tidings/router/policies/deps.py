"""What the policies' use cases need; `bootstrap` fills it."""

from dataclasses import dataclass
from datetime import timedelta

from tidings.contracts.channels import ChannelsSetUp
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.idempotency import Idempotency
from tidings.router.policies.check import Adapters
from tidings.router.policies.rehearse import PolicyRehearser
from tidings.router.prices.rates import Rates
from tidings.router.vendors.accounts import Accounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that policies touch."""

    db: Database
    clock: Clock
    #: Of the schema `chan`.
    audit: AuditLog
    idempotency: Idempotency
    adapters: Adapters
    accounts: Accounts
    rates: Rates
    rehearser: PolicyRehearser
    channels: ChannelsSetUp
    #: For how long a deleted policy can be restored.
    grace: timedelta = timedelta(days=30)
