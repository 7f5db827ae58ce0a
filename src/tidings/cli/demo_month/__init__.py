"""A plausible month of a small group of hotels, sent through the API as any caller sends, for `tidings demo`."""

from tidings.cli.demo_month.play import MonthPlayer
from tidings.cli.demo_month.sizes import SIZES, MonthSize

__all__ = ["SIZES", "MonthPlayer", "MonthSize"]
