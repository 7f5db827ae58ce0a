"""One tenant queues thousands; another's critical ones go past them.

The full size is `python -m bench.fairness`; here only what no machine is too slow for is asserted.
"""

import pytest
from bench.fairness import measure

pytestmark = pytest.mark.xdist_group("surviving")

_MANY = 6_000
#: Were the critical ones to wait in line, each would wait for thousands: hundreds of times as long as alone. The median says
#: so; of thirty the slowest is whichever met a pause of the machine.
_MOST = 10.0


def test_a_flood_does_not_hold_up_what_is_critical() -> None:
    """It reaches the vendor while most of the flood still waits."""
    figures = measure(many=_MANY, measured=30)

    print("\n", {name: round(value, 2) for name, value in figures.items()})  # noqa: T201  # shown with -s
    assert figures["fairness_loaded_p50_ms"] < _MOST * figures["fairness_idle_p50_ms"]
