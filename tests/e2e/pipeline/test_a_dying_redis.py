"""Redis is killed while thousands are under way, and comes back empty; sending goes on, and a limit holds."""

import httpx2
import pytest
from bench.house import House, wait_for

from tests.e2e.pipeline.ledger import read_ledger
from tests.e2e.pipeline.senders import Senders
from tests.support.counting_vendor import CountingVendor
from tests.support.prepared_house import prepared_house
from tests.support.running import wait_until
from tests.support.valkey import running_valkey

pytestmark = pytest.mark.xdist_group("surviving")

SENT = 600
A_DAY = 400


def test_sending_goes_on_and_the_limit_holds() -> None:
    """All are accepted, as many as the day allows arrive, each once, and the others wait for tomorrow."""
    with (
        running_valkey() as valkey,
        CountingVendor(hold=0.04) as vendor,
        prepared_house(
            workers=2,
            vendors={"smtp": {"host": "127.0.0.1", "port": vendor.port, "security": "none"}},
            extra={"TIDINGS_HOT_STATE_URL": valkey.url.reveal()},
        ) as house,
    ):
        resident = house.resident("limited")
        _limit(house, resident.api_key)
        senders = Senders(house.base_url, resident, count=SENT)
        sending = vendor.begin(senders.send_all())
        wait_for(lambda: vendor.count >= A_DAY / 4, "a quarter to arrive")
        valkey.kill()
        before = vendor.count
        wait_for(lambda: vendor.count >= before + A_DAY / 4, "sending to go on without it")
        valkey.start()
        wait_for(sending.done, "all to be accepted")
        sending.result()
        sent = set(senders.accepted.values())

        def settled() -> bool:
            waiting = read_ledger(house.postgres.url("tidings_owner")).waiting
            over = len(vendor.came) + waiting["chan.executions_live"] == SENT
            return over and not waiting["notification.dispatch_queue"] and len(vendor.came) >= A_DAY

        wait_until(settled, "each to have arrived or to wait")
        statuses = read_ledger(house.postgres.url("tidings_owner")).statuses
        logs = "".join(program.output for program in house.programs)

    assert len(sent) == SENT
    assert sent == set(statuses), "lost"
    assert A_DAY <= len(vendor.came) <= 1.1 * A_DAY
    assert vendor.count == len(vendor.came), "twice"
    assert "hot_state_changed_hands" in logs
    assert "job_fell" not in logs


def _limit(house: House, api_key: str) -> None:
    with httpx2.Client(base_url=house.base_url, headers={"Authorization": f"Bearer {api_key}"}) as client:
        known = client.get("/api/v1/channels/email")
        wish = {
            "vendor": "smtp",
            "sender": {"from_address": "hello@house.example", "from_name": "House"},
            "rate_limit": {"per_day": A_DAY},
        }
        answer = client.put("/api/v1/channels/email", json=wish, headers={"If-Match": known.headers["etag"]})
        assert answer.status_code == 200, answer.text
