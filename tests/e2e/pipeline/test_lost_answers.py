"""The answers to a worker's commits are lost: it can't know what was written, and must not forget anything."""

import os
from collections import Counter
from urllib.parse import urlsplit

import pytest
from bench.house import House, wait_for

from tests.e2e.pipeline.ledger import Ledger, read_ledger
from tests.e2e.pipeline.senders import Senders
from tests.support.counting_vendor import CountingVendor
from tests.support.lossy_proxy import LossyProxy
from tests.support.prepared_house import prepared_house
from tests.support.running import wait_until

pytestmark = pytest.mark.xdist_group("surviving")

SEED = int(os.environ.get("TIDINGS_TEST_SEED", "7"))
_COUNT = 600
#: Enough for every kind of commit; not so many that a notification runs out of tries.
_LOST = 40


def test_what_was_claimed_and_begun_is_found_again() -> None:
    """Every one arrives although a third of all commits end without a word; twice only what was never learned."""
    with CountingVendor(seed=SEED, hold=0.02) as vendor:
        accounts: dict[str, dict[str, object]] = {
            "smtp": {"host": "127.0.0.1", "port": vendor.port, "security": "none"}
        }
        with prepared_house(workers=0, vendors=accounts) as house:
            where = urlsplit(house.postgres.url("tidings_runtime"))
            assert where.hostname is not None
            assert where.port is not None
            proxy = vendor.run(LossyProxy.start(where.hostname, where.port, seed=SEED))
            house.hire(
                database_url=where._replace(
                    netloc=where.netloc.replace(str(where.port), str(proxy.port))
                ).geturl()
            )
            senders = Senders(house.base_url, house.resident("unheard"), count=_COUNT)
            proxy.rate = 0.3
            vendor.run(senders.send_all())
            wait_for(lambda: proxy.lost >= _LOST or vendor.count >= _COUNT / 2, "enough answers to be lost")
            proxy.rate = 0.0
            sent = set(senders.accepted.values())
            ledger = _await_the_end(house, sent)

        twice = {id_ for id_, moments in vendor.came.items() if len(moments) > 1}
        print(f"\n{proxy.lost} answers lost; twice {len(twice)}, never learned {len(ledger.never_learned)}")  # noqa: T201  # shown with -s
        assert sent <= set(vendor.came)
        assert twice <= ledger.never_learned
        for told in (ledger.proofs, ledger.outcome_events, ledger.delivered_events):
            assert {told[id_] for id_ in sent} == {1}


def _await_the_end(house: House, sent: set[str]) -> Ledger:
    last: list[Ledger] = []

    def over() -> bool:
        last[:] = [read_ledger(house.postgres.url("tidings_owner"))]
        return not any(last[0].waiting.values()) and sent <= set(last[0].delivered_events)

    try:
        wait_until(over, "everything to be over", patience=60)
    except AssertionError:
        statuses = Counter(last[0].statuses.values())
        pytest.fail(f"left: {last[0].waiting}, {statuses}\n{house.workers[0].output[-6000:]}")
    return last[0]
