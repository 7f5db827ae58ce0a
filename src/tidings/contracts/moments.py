"""Moments as they cross a border."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta

#: A moment says its offset; a bare one means something else on every machine.
Moment = Annotated[datetime, Meta(tz=True)]
