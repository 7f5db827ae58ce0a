"""What the operations on devices do; rights are checked here, so that no route can forget them."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from tidings.backoffice.attestations.attest import seat_of
from tidings.backoffice.credentials.device_proofs import PublicKey
from tidings.backoffice.devices import store
from tidings.backoffice.devices.errors import OtherDevicesError, PlatformDeviceError, UnknownDeviceError
from tidings.backoffice.devices.model import DeviceSays, DeviceStatus, HintReport, OfflineHint, SyncedDevice
from tidings.backoffice.devices.presence import DevicePresence
from tidings.backoffice.ids import DeviceId, OperatorId
from tidings.backoffice.operators import store as operator_store
from tidings.backoffice.operators.people import OperatorPeople
from tidings.backoffice.properties.access import check_property, holds_property
from tidings.backoffice.sessions.authenticate import SessionAuthenticator
from tidings.backoffice.sessions.proofs import DeviceProofs
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.refusals import StaleVersionError

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DeviceDesk:
    """A device speaks for itself; who may see a property sees its devices."""

    db: Database
    presence: DevicePresence
    proofs: DeviceProofs
    authenticator: SessionAuthenticator
    people: OperatorPeople
    clock: Clock

    async def hear(
        self, caller: Caller, device_id: DeviceId, says: DeviceSays, *, shakes_hands: bool = False
    ) -> SyncedDevice:
        """It is there."""
        operator_id = self._own(caller, device_id)
        if says.property_id is not None:
            check_property(caller, says.property_id)
        async with self._home(caller) as tx:
            return await self.presence.heard(
                tx, device_id, says, operator_id=operator_id, shakes_hands=shakes_hands
            )

    async def bind(self, caller: Caller, device_id: DeviceId, key: PublicKey) -> None:
        """Bind the caller's session to a key of the device."""
        self._own(caller, device_id)
        await self.proofs.register(caller, key)
        self.authenticator.forget_all()

    async def is_bound(self, caller: Caller) -> bool:
        """Whether each request of the caller's session needs a proof."""
        return await self.authenticator.is_bound_to_key(seat_of(caller).session_id)

    async def own(self, caller: Caller, device_id: DeviceId) -> SyncedDevice:
        """The caller's own device."""
        self._own(caller, device_id)
        async with self._home(caller) as tx:
            return _known(await store.find_device(tx, device_id, now=self.clock.now()))

    async def move_cursor(
        self, caller: Caller, device_id: DeviceId, cursor: str, if_match: IfMatch
    ) -> SyncedDevice:
        """Move the place of the caller's own device, from the version that it knows."""
        self._own(caller, device_id)
        now = self.clock.now()
        async with self._home(caller) as tx:
            device = _known(await store.find_device(tx, device_id, now=now))
            if_match.expect(device.cursor_version)
            moved = await store.move_cursor(
                tx, device_id, cursor=cursor, version=device.cursor_version, now=now
            )
        if moved is None:
            raise StaleVersionError
        return moved

    async def acknowledge(self, caller: Caller, device_id: DeviceId, ack: int) -> SyncedDevice:
        """The caller's own device has dealt with what its stream told."""
        self._own(caller, device_id)
        async with self._home(caller) as tx:
            return _known(await store.acknowledge_push(tx, device_id, ack=ack, now=self.clock.now()))

    async def report_hints(
        self,
        caller: Caller,
        device_id: DeviceId,
        hints: Sequence[OfflineHint],
        *,
        app_version: str,
        once: Callable[[TenantTx, Callable[[], Awaitable[SyncedDevice]]], Awaitable[T]],
    ) -> T:
        """The caller's own device says what it has queued; `once` has it done once, however often the request is repeated."""
        operator_id = self._own(caller, device_id)
        async with self._home(caller) as tx:

            async def report() -> SyncedDevice:
                return _known(
                    await store.put_hints(
                        tx,
                        device_id,
                        operator_id=operator_id,
                        payload=msgspec.json.encode(hints).decode(),
                        app_version=app_version,
                        now=self.clock.now(),
                    )
                )

            return await once(tx, report)

    async def show(self, tx: TenantTx, caller: Caller, device_id: DeviceId) -> SyncedDevice:
        """A device that the caller may see."""
        device = _known(await store.find_device(tx, device_id, now=self.clock.now()))
        is_own = device.device_id == caller.device_id
        if not is_own and not holds_property(caller.properties, device.property_id or "nowhere"):
            raise UnknownDeviceError
        return device

    async def list(
        self,
        tx: TenantTx,
        caller: Caller,
        *,
        status: DeviceStatus | None,
        property_id: str | None,
        after_id: str | None,
        limit: int,
    ) -> list[SyncedDevice]:
        """Devices that the caller may see."""
        seat = seat_of(caller)
        return await store.list_devices(
            tx,
            properties=caller.properties,
            own_device=seat.device_id,
            status=status,
            property_id=property_id,
            after_id=after_id,
            limit=limit,
            now=self.clock.now(),
        )

    async def list_hints(
        self, tx: TenantTx, caller: Caller, device_id: DeviceId, *, after_id: str | None, limit: int
    ) -> Sequence[HintReport]:
        """What a device that the caller may see has said of its queue."""
        await self.show(tx, caller, device_id)
        return await store.list_hints(tx, device_id, after_id=after_id, limit=limit)

    async def names(
        self, tx: TenantTx, caller: Caller, devices: Sequence[SyncedDevice]
    ) -> dict[OperatorId, str]:
        """What those are called who were on them last, for who may read operators."""
        if "operators:read" not in caller.scopes:
            return {}
        wanted = {device.operator_id for device in devices if device.operator_id is not None}
        found = await operator_store.find_any(tx, sorted(wanted))
        people = await self.people.open(tx, list(found.values()))
        return {operator_id: person.name for operator_id, person in people.items()}

    def _own(self, caller: Caller, device_id: DeviceId) -> OperatorId:
        seat = seat_of(caller)
        if seat.device_id != device_id:
            raise OtherDevicesError
        return seat.operator_id

    def _home(self, caller: Caller) -> AbstractAsyncContextManager[TenantTx]:
        # Without the caller's role: what a device says of itself is no right of one.
        if caller.home is None:
            raise PlatformDeviceError
        return self.db.tenant(caller.home)


def _known(device: SyncedDevice | None) -> SyncedDevice:
    if device is None:
        raise UnknownDeviceError
    return device
