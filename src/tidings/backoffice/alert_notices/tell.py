"""Tells operators of alerts: looks now and then, in one process at a time."""

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, TypeAlias

from tidings.backoffice.alert_notices import store
from tidings.backoffice.alert_notices.model import SETTLES, AlertSubscription, ToldAlert, to_tell
from tidings.backoffice.alert_notices.subscribe import AlertSubscriber
from tidings.backoffice.alerts.model import Alert
from tidings.backoffice.ids import OperatorId
from tidings.backoffice.operators import store as operator_store
from tidings.backoffice.operators.model import OperatorRecord
from tidings.backoffice.operators.people import OperatorPeople, OperatorPerson
from tidings.backoffice.own_url import ConsoleUrl
from tidings.backoffice.properties.access import ALL_PROPERTIES, PropertyReach
from tidings.contracts.operator_notices import OperatorNotice, OperatorNotices
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, PlatformTx, TenantTx
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.errors import TidingsError
from tidings.kernel.hot_state import Leases
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger, why

TURN_SECONDS: Final = 20.0
_LEASE: Final = timedelta(seconds=75)
#: What an alert is called in a language: category and language.
TitleOf: TypeAlias = Callable[[str, str], str]

_log = get_logger("alert_notices")


@dataclass(frozen=True, slots=True)
class _Told:
    """A message, and the alerts that it is about."""

    notice: OperatorNotice
    alerts: Sequence[Alert]


class AlertTeller:
    """A job of any number of processes."""

    def __init__(
        self,
        *,
        db: Database,
        leases: Leases,
        people: OperatorPeople,
        subscriber: AlertSubscriber,
        notices: OperatorNotices,
        url: ConsoleUrl,
        clock: Clock,
        title_of: TitleOf,
        of_platform: TenantId | None,
    ) -> None:
        """`of_platform`: the tenant through which operators of the platform are told; None: they are not."""
        self._db = db
        self._leases = leases
        self._people = people
        self._subscriber = subscriber
        self._notices = notices
        self._url = url
        self._clock = clock
        self._title_of = title_of
        self._of_platform = of_platform
        self._holder = secrets.token_hex(8)

    async def run(self, stop: asyncio.Event) -> None:
        """Until told to stop."""
        while not stop.is_set():
            try:
                if await self._leases.acquire(None, "alert_notices", self._holder, _LEASE):
                    await self.run_once()
            except TidingsError as error:
                _log.warning("operators_not_told", **why(error))
            await wait_for_stop(stop, TURN_SECONDS)

    async def run_once(self) -> int:
        """Tell everybody who is to be told now; how many messages that took. One tenant's mistake keeps no other."""
        async with self._db.worker() as tx:
            tenants = await store.tenants_to_tell(tx, settled=self._clock.now() - SETTLES)
        count = 0
        for tenant_id in tenants:
            try:
                count += await self._tell(tenant_id)
            except TidingsError as error:
                _log.warning("operators_not_told", tenant_id=tenant_id, **why(error))
        return count

    async def _tell(self, tenant_id: TenantId | None) -> int:
        if tenant_id is not None:
            async with self._db.tenant(tenant_id) as tx:
                due = await self._due(tx)
                return await self._note(tx, due, await self._notices.send(tx, [one.notice for one in due]))
        if self._of_platform is None:
            return 0
        async with self._db.platform() as platform:
            due = await self._due(platform)
        if not due:
            return 0
        # Two transactions: a message of the same key that was accepted before a crash is not accepted twice.
        async with self._db.tenant(self._of_platform) as tx:
            sent = await self._notices.send(tx, [one.notice for one in due])
        async with self._db.platform() as platform:
            return await self._note(platform, due, sent)

    async def _due(self, tx: TenantTx | PlatformTx) -> list[_Told]:
        now = self._clock.now()
        alerts = await store.open_alerts(tx, now=now)
        subscriptions = await store.list_subscriptions(tx)
        ids = [one.operator_id for one in subscriptions]
        told: dict[OperatorId, dict[str, ToldAlert]] = {}
        for one in await store.told_of(tx, ids, [alert.dedup_key for alert in alerts]):
            told.setdefault(one.operator_id, {})[one.dedup_key] = one
        operators = {one.id: one for one in await operator_store.find_operators(tx, ids)}
        people = await self._people.open(tx, list(operators.values()))
        due: list[_Told] = []
        for subscription in subscriptions:
            operator, person = operators.get(subscription.operator_id), people.get(subscription.operator_id)
            if operator is None or person is None or operator.status not in ("active", "locked"):
                continue
            mine = told.get(operator.id, {})
            found = to_tell(alerts, mine, severity=subscription.severity, reach=_reach(operator), now=now)
            if found:
                due.append(_Told(await self._notice(tx, subscription, person, found, mine), found))
        return due

    async def _notice(
        self,
        tx: TenantTx | PlatformTx,
        subscription: AlertSubscription,
        person: OperatorPerson,
        found: Sequence[Alert],
        told: Mapping[str, ToldAlert],
    ) -> OperatorNotice:
        first = found[0]
        last = told.get(first.dedup_key)
        page = f"/console/alerts/{first.id}" if len(found) == 1 else "/console/alerts"
        return OperatorNotice(
            operator_id=subscription.operator_id,
            name=person.name,
            email=person.email,
            phone=await self._subscriber.phone(tx, subscription),
            language=subscription.language,
            severity=first.severity,
            title=self._title_of(first.category, subscription.language),
            more=len(found) - 1,
            url=self._url.base.rstrip("/") + page,
            key=f"{first.id}.{subscription.operator_id}.{last.times if last else 0}",
        )

    async def _note(self, tx: TenantTx | PlatformTx, due: Sequence[_Told], sent: Sequence[bool]) -> int:
        # Who can't be told is not tried every twenty seconds: it counts as told.
        told = [(OperatorId(one.notice.operator_id), alert) for one in due for alert in one.alerts]
        if told:
            await store.note_told(tx, told, now=self._clock.now())
        return sum(sent)


def _reach(operator: OperatorRecord) -> PropertyReach:
    held = operator.properties
    return PropertyReach(is_every=ALL_PROPERTIES in held, properties=held)
