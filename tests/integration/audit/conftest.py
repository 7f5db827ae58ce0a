"""Fixtures of the audit tests: a log on a clock that stands still."""

import pytest

from tests.support.clock import ManualClock
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import SystemClock


@pytest.fixture
def clock() -> ManualClock:
    """Stands at noon in the middle of this month, which has a partition, until it is moved."""
    return ManualClock(SystemClock().now().replace(day=15, hour=12, minute=0, second=0, microsecond=0))


@pytest.fixture
def log(clock: ManualClock) -> AuditLog:
    """Notify's log."""
    return AuditLog("notification", clock)
