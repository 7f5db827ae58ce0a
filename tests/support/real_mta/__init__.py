"""Real mail servers for the tests: Debian's Exim and Postfix, side by side, each in a folder on loopback."""

from tests.support.real_mta.exim import exim
from tests.support.real_mta.postfix import postfix
from tests.support.real_mta.running import Mta

__all__ = ["Mta", "exim", "postfix"]
