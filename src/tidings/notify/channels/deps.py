"""What the channels' use cases need; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.contracts.channel_configs import ChannelConfigs, VendorDesk
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.dns import Resolver
from tidings.kernel.outbox import Outbox
from tidings.notify.channels.try_out import ChannelTester


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that channels touch."""

    db: Database
    clock: Clock
    #: Of the schema `notification`.
    audit: AuditLog
    #: The router's side.
    router: ChannelConfigs
    #: Of the schema `notification`.
    outbox: Outbox
    #: The router's way to ask vendors something.
    desk: VendorDesk
    tester: ChannelTester
    resolver: Resolver
