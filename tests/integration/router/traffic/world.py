"""Several processes over one database, as far as their traffic goes, with a clock moved by hand."""

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from tests.support.clock import ManualClock
from tests.support.system import system_over
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.contracts.prices import PriceModel
from tidings.kernel.audit.record import AuditRow
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.router.accounts.model import StoredAccount
from tidings.router.traffic.change_weights import WeightSetter
from tidings.router.traffic.circuit import Override
from tidings.router.traffic.circuit_override import CircuitHolder
from tidings.router.traffic.model import ChosenVendor, NoVendorAvailable
from tidings.router.traffic.traffic_state import ChannelWeights

NUMBER = "+93700000001"


class Process:
    """One of them."""

    def __init__(self, world: "TrafficWorld", name: str) -> None:
        stage = system_over(world.db, clock=world.clock).vendors
        self.traffic, self.job = stage.traffic, stage.traffic_job
        self.traffic.name = name
        self._world = world

    def sees(
        self, vendor: str, *, ok: int = 0, failed: int = 0, slow: bool = False, prefix: str = "+93"
    ) -> None:
        """Calls through the tenant's account, answered so."""
        account = self._world.accounts[vendor]
        self.traffic.observe(
            account.id, prefix=prefix, ok=ok, failed=failed, seconds=6.0 if slow else 0.1, slow=slow
        )

    def chooses(
        self, *vendors: str, random_unit: float = 0.0, to: str = NUMBER
    ) -> ChosenVendor | NoVendorAvailable:
        """For a message of the tenant's."""
        world = self._world
        return self.traffic.choose(
            world.tenant_id, "sms", vendors, world.accounts, to=to, tried=(), random_unit=random_unit
        )


class TrafficWorld:
    """A tenant with accounts, and processes that send through them."""

    def __init__(self, db: Database, tenant_id: TenantId) -> None:
        self.db = db
        self.tenant_id = tenant_id
        self.clock = ManualClock(SystemClock().now().replace(microsecond=0))
        system = system_over(db, clock=self.clock)
        self.audit, self.outbox = system.kernel.router_audit, system.kernel.router_outbox
        self.changer, self.configs = system.vendors.traffic_changer, system.router.adapter_configs
        self.holder = CircuitHolder(self.changer, clock=self.clock)
        self.setter = WeightSetter(self.configs.vendors(), audit=self.audit, clock=self.clock)
        self.accounts: dict[str, StoredAccount] = {}

    def process(self, name: str) -> Process:
        """A further one."""
        return Process(self, name)

    async def with_accounts(self, *vendors: str, prices: PriceModel | None = None) -> None:
        """The tenant's own."""
        commands = [ConfigureAccount(vendor=v, secret_ref="file://x", prices=prices) for v in vendors]
        async with self.db.tenant(self.tenant_id) as tx:
            await self.configs.configure(tx, commands, actor="test")
        await self.look_up_accounts()

    async def look_up_accounts(self) -> None:
        """As they are now."""
        fresh = system_over(self.db, clock=self.clock).vendors.accounts
        self.accounts = dict(await fresh.of(self.tenant_id))

    async def hold(self, vendor: str, state: Any, *, until: timedelta | None = None) -> None:
        """By hand."""
        override = Override(
            state=state, until=self.clock.now() + until if until else None, reason="we know better"
        )
        async with self.db.tenant(self.tenant_id) as tx:
            await self.holder.hold(tx, self.accounts[vendor].id, override, actor="key_somebody")

    async def let_go(self, vendor: str) -> None:
        """By hand."""
        async with self.db.tenant(self.tenant_id) as tx:
            await self.holder.let_go(tx, self.accounts[vendor].id, actor="key_somebody")

    async def share(self, home: dict[str, int], **by_prefix: dict[str, int]) -> ChannelWeights:
        """How SMS are shared."""
        async with self.db.tenant(self.tenant_id) as tx:
            return await self.setter.put(
                tx, "sms", home, by_prefix, expect=lambda _: None, actor="key_somebody"
            )

    async def passes(self, seconds: float, *processes: Process) -> None:
        """Time passes, and then all look."""
        await self.clock.advance(timedelta(seconds=seconds))
        for one in processes:
            await one.job.look()

    async def audit_rows(self, entity_type: str) -> list[AuditRow]:
        """Of the tenant, oldest first."""
        async with self.db.tenant(self.tenant_id) as tx:
            found = await self.audit.read_recent(tx, entity_type=entity_type)
        return sorted(found, key=lambda row: row.seq)

    async def events(self) -> Sequence[tuple[str, Any]]:
        """What was published of the tenant, oldest first: subject and payload."""
        async with self.db.worker() as tx:
            rows = await tx.connection.fetch(
                "SELECT subject, payload FROM chan.outbox WHERE tenant_id = $1 ORDER BY seq", self.tenant_id
            )
        return [(row["subject"], json.loads(row["payload"])) for row in rows]
