"""What operators' devices hear and say: their streams, their heartbeats; and what is heard of who sits before them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidings.bootstrap.kernel import KernelStage
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep
    from tidings.kernel.parts import Parts


class OperatorDevicesStage:
    """A part of the back office."""

    def __init__(self, kernel: "KernelStage", parts: "Parts") -> None:
        """`parts`: those of the back office, with sessions; what streams wake asks those, and they have forgotten by then."""
        from tidings.backoffice.stream.hub import DeviceStreams

        self._kernel = kernel
        self._parts = parts
        #: The streams of this process.
        self.streams: DeviceStreams = parts.make(DeviceStreams, announcer=kernel.bus.wakeups)

    def jobs(self) -> "dict[str, Job]":
        """What a worker runs."""
        from tidings.backoffice.devices.presence import DevicePresence, DeviceSweepJob
        from tidings.backoffice.identity_events import hear
        from tidings.kernel.bus import Subscription

        kernel = self._kernel
        identities = self._parts.get(hear.IdentityHearer)
        subscription = Subscription(
            hear.GROUP,
            hear.SUBJECTS,
            ledger="bff_backoffice",
            on_tenant_events=identities.handle,
            on_platform_events=identities.handle,
            start="now",
        )
        return {
            "device_sweep": DeviceSweepJob(kernel.db, self._parts.get(DevicePresence)),
            "operator_identities": kernel.bus.consumer(subscription),
            **self.api_jobs(),
        }

    def api_jobs(self) -> "dict[str, Job]":
        """What tells the streams of this process."""
        return {"device_streams": self.streams}

    def sweeps(self) -> "dict[str, Sweep]":
        """What was kept for a while: announcements, proofs and keys of sessions, what was queued offline."""
        from tidings.backoffice.announcements.store import sweep_announcements
        from tidings.backoffice.announcements.tell import WINDOW
        from tidings.backoffice.devices.model import HINTS_KEPT
        from tidings.backoffice.devices.store import sweep_hints
        from tidings.backoffice.sessions.store import sweep_device_keys, sweep_device_proofs

        db, clock = self._kernel.db, self._kernel.clock

        async def announcements(most: int) -> int:
            async with db.worker() as tx:
                return await sweep_announcements(tx, before=clock.now() - WINDOW, limit=most)

        async def proofs(most: int) -> int:
            async with db.worker() as tx:
                return await sweep_device_proofs(tx, before=clock.now(), limit=most)

        async def keys(most: int) -> int:
            async with db.worker() as tx:
                return await sweep_device_keys(tx, before=clock.now(), limit=most)

        async def hints(most: int) -> int:
            async with db.worker() as tx:
                return await sweep_hints(tx, before=clock.now() - HINTS_KEPT, limit=most)

        return {
            "operator_announcements": announcements,
            "device_proofs": proofs,
            "device_keys": keys,
            "offline_hints": hints,
        }
