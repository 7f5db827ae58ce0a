"""What the pixel and the links need; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.notify.tracking.record import VisitRecorder
from tidings.notify.tracking.tracker import Tracker


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that visits touch."""

    tracker: Tracker
    recorder: VisitRecorder
