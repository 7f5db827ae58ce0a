"""What operators' devices hear and say: their streams."""

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
        #: The streams of this process.
        self.streams: DeviceStreams = parts.make(DeviceStreams, announcer=kernel.bus.wakeups)

    def jobs(self) -> "dict[str, Job]":
        """What a worker runs."""
        return self.api_jobs()

    def api_jobs(self) -> "dict[str, Job]":
        """What tells the streams of this process."""
        return {"device_streams": self.streams}

    def sweeps(self) -> "dict[str, Sweep]":
        """Announcements that are no longer kept for those who were away."""
        from tidings.backoffice.announcements.store import sweep_announcements
        from tidings.backoffice.announcements.tell import WINDOW

        db, clock = self._kernel.db, self._kernel.clock

        async def announcements(most: int) -> int:
            async with db.worker() as tx:
                return await sweep_announcements(tx, before=clock.now() - WINDOW, limit=most)

        return {"operator_announcements": announcements}
