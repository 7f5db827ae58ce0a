"""Devices as they prove themselves: browsers that operators signed in from before."""

import hmac
from collections.abc import Collection
from dataclasses import dataclass

from tidings.backoffice.credentials.pepper import OperatorPepper
from tidings.backoffice.credentials.tokens import read_device
from tidings.backoffice.ids import DeviceId, OperatorId
from tidings.backoffice.operators.model import OperatorRecord
from tidings.backoffice.sessions import store
from tidings.backoffice.sessions.model import Device
from tidings.kernel.db import Database


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class KnownDevices:
    """Knows devices by the cookie of their browser."""

    db: Database
    pepper: OperatorPepper

    async def find(self, cookie: str | None) -> Device | None:
        """The device that the browser proves to be; None where it is new to us, or only says so."""
        read = read_device(cookie)
        if read is None:
            return None
        device_id, secret = read
        async with self.db.platform() as tx:
            device = (await store.find_devices(tx, [device_id])).get(device_id)
        fits = device is not None and hmac.compare_digest(
            device.secret_hash, await hash_device(self.pepper, device_id, secret)
        )
        return device if fits else None

    async def of(
        self, cookie: str | None, operators: Collection[OperatorRecord]
    ) -> tuple[DeviceId | None, frozenset[OperatorId]]:
        """The device that the browser proves to be, and which of these had a session on it."""
        device = await self.find(cookie)
        if device is None:
            return None, frozenset()
        async with self.db.platform() as tx:
            found = await store.find_users_of_device(tx, device.id, [one.id for one in operators])
        return device.id, found


async def hash_device(pepper: OperatorPepper, device_id: DeviceId, secret: str) -> str:
    """What is kept of a device's secret."""
    return await pepper.hash("device", device_id, secret)
