"""Moments as they cross a border."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta

from tidings.kernel.moments import ANY_TIME

#: A moment says its offset; a bare one means something else on every machine.
Moment = Annotated[datetime, Meta(tz=True)]

#: As a vendor tells it: it can be any, and a reader leaves one out that means nothing.
ToldMoment = Annotated[datetime, Meta(tz=True, extra=ANY_TIME)]
