"""One tenant queues thousands; another's critical ones go past them.

The full size is `python -m bench.fairness`; here only what no machine is too slow for is asserted.
"""

import pytest
from bench.fairness import measure

from tests.support.prepared_house import prepared_house

pytestmark = pytest.mark.xdist_group("surviving")

_MANY = 6_000
#: So many that the hundredth part of them is not whichever met a pause of the machine.
_MEASURED = 100
#: Were the critical ones to wait in line, each would wait for thousands: hundreds of times as long as alone.
_MOST = 20.0


def test_a_flood_does_not_hold_up_what_is_critical() -> None:
    """It reaches the vendor while most of the flood still waits."""
    figures = measure(many=_MANY, measured=_MEASURED, open_house=prepared_house)

    print("\n", {name: round(value, 2) for name, value in figures.items()})  # noqa: T201  # shown with -s
    assert figures["fairness_critical_p99_ratio"] < _MOST
    # And as a rule they wait for nobody at all.
    assert figures["fairness_loaded_p50_ms"] < _MOST / 2 * figures["fairness_idle_p50_ms"]
