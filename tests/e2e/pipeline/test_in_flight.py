"""`kill -9` of the only worker at full load: what was answered is not sent again.

The full size is `python -m bench.kill`.
"""

import pytest
from bench.kill import measure

from tests.support.prepared_house import prepared_house

pytestmark = pytest.mark.xdist_group("surviving")

#: Ten accounts have two messages in flight together; a machine that stands still makes the server a slow one, with some more.
MOST = 8


def test_only_what_was_in_flight_is_sent_twice() -> None:
    figures = measure(kills=2, mails=400, open_house=prepared_house)

    assert figures["kills_lost"] == 0
    assert figures["kills_sent_twice_most"] <= MOST
