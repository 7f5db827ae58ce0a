"""Whether devices are there: they say so themselves, and a job notices those that have fallen silent."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from tidings.backoffice.alerts.alerts import Alerts
from tidings.backoffice.alerts.model import NewAlert
from tidings.backoffice.announcements.model import NewAnnouncement
from tidings.backoffice.announcements.tell import DeviceAnnouncements
from tidings.backoffice.devices import store
from tidings.backoffice.devices.model import OFFLINE_AFTER, DeviceSays, SyncedDevice, alert_key
from tidings.backoffice.ids import DeviceId, OperatorId
from tidings.contracts.backoffice import (
    DEVICE_OFFLINE_SUBJECT,
    DEVICE_ONLINE_SUBJECT,
    DeviceOffline,
    DeviceOnline,
)
from tidings.contracts.events import BACKOFFICE_SOURCE
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.errors import TidingsError
from tidings.kernel.events import Event, new_event
from tidings.kernel.logs import get_logger, why
from tidings.kernel.outbox import Outbox
from tidings.kernel.tracing import current_traceparent

#: Oftener than an outage takes to be one, so that it is noticed a minute later at most.
EVERY: Final = timedelta(minutes=1)

_log = get_logger("devices")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DevicePresence:
    """The one way in which a device comes and goes; alert, event and announcement commit with it."""

    alerts: Alerts
    announcements: DeviceAnnouncements
    outbox: Outbox
    clock: Clock

    async def heard(
        self,
        tx: TenantTx,
        device_id: DeviceId,
        says: DeviceSays,
        *,
        operator_id: OperatorId,
        shakes_hands: bool = False,
    ) -> SyncedDevice:
        """It said something: it is there, and its outage is over."""
        now = self.clock.now()
        before = await store.lock_device(tx, device_id, now=now)
        device = await store.put_device(
            tx, device_id, says, operator_id=operator_id, shakes_hands=shakes_hands, now=now
        )
        if before is not None and before.status == "offline" and before.offline_since is not None:
            told = DeviceOnline(
                device_id=device_id,
                operator_id=operator_id,
                property_id=device.property_id,
                offline_since=before.offline_since,
            )
            await self.alerts.resolve(tx, [alert_key(device_id)])
            await self.outbox.append(tx, [self._event(tx, device_id, DEVICE_ONLINE_SUBJECT, told)])
        if before is None or before.status != "online":
            await self.announcements.tell_all(tx, [_announcement(device)])
        return device

    async def note_silent(self, tx: TenantTx) -> int:
        """Notice the tenant's devices that have fallen silent: each outage once; how many have changed."""
        now = self.clock.now()
        changed = await store.note_silent(tx, before=now - OFFLINE_AFTER, now=now)
        lost = [device for _, device in changed if device.status == "offline"]
        put_away = [device for was, device in changed if was == "offline" and device.status == "signed_out"]
        await self.alerts.raise_(tx, [_alert(device) for device in lost])
        await self.alerts.resolve(tx, [alert_key(device.device_id) for device in put_away])
        events = [
            self._event(
                tx,
                device.device_id,
                DEVICE_OFFLINE_SUBJECT,
                DeviceOffline(
                    device_id=device.device_id,
                    operator_id=device.operator_id,
                    property_id=device.property_id,
                    last_heartbeat_at=device.last_heartbeat_at or now,
                ),
            )
            for device in lost
        ]
        await self.outbox.append(tx, events)
        await self.announcements.tell_all(tx, [_announcement(device) for _, device in changed])
        return len(changed)

    def _event(
        self, tx: TenantTx, device_id: DeviceId, subject: str, told: DeviceOffline | DeviceOnline
    ) -> Event:
        return new_event(
            subject,
            told,
            tenant_id=tx.tenant_id,
            ordering_key=device_id,
            source=BACKOFFICE_SOURCE,
            clock=self.clock,
            traceparent=current_traceparent(),
        )


class DeviceSweepJob:
    """Looks for silent devices, tenant by tenant; any number of processes may, and each outage is noticed by one of them."""

    def __init__(self, db: Database, presence: DevicePresence) -> None:
        self._db = db
        self._presence = presence

    async def run(self, stop: asyncio.Event) -> None:
        """Work until told to stop."""
        while not await wait_for_stop(stop, EVERY.total_seconds()):
            await self.run_once()

    async def run_once(self) -> int:
        """One round; how many devices have changed. One tenant's failure keeps no other from its turn."""
        async with self._db.worker() as tx:
            before = self._presence.clock.now() - OFFLINE_AFTER
            tenants = await store.find_tenants_of_silent(tx, before=before)
        changed = 0
        for tenant_id in tenants:
            try:
                async with self._db.tenant(tenant_id) as tenant_tx:
                    changed += await self._presence.note_silent(tenant_tx)
            except TidingsError as error:
                _log.error("devices_not_swept", tenant_id=tenant_id, **why(error))
        return changed


def _announcement(device: SyncedDevice) -> NewAnnouncement:
    facts = {"device_id": device.device_id, "status": device.status}
    return NewAnnouncement(channel="devices", property_id=device.property_id, facts=facts)


def _alert(device: SyncedDevice) -> NewAlert:
    return NewAlert(
        dedup_key=alert_key(device.device_id),
        category="device_offline",
        severity="warning",
        property_id=device.property_id,
        source="devices",
        facts={
            "device_id": device.device_id,
            **({"operator_id": device.operator_id} if device.operator_id else {}),
            "minutes": int(OFFLINE_AFTER.total_seconds() // 60),
        },
    )
