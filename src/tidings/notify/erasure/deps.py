"""What the routes of erasures need; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.kernel.db import Database
from tidings.notify.erasure.erase import Eraser


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that erasing touches."""

    db: Database
    eraser: Eraser
