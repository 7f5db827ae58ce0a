"""`tidings demo` lives through the days up to now by the API alone; again, it changes nothing."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.running import RunningTidings, run_tidings


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningTidings]:
    """An installation that began yesterday, and was filled."""
    yesterday = f"{datetime.now(UTC) - timedelta(hours=26):%Y-%m-%dT%H:%MZ}"
    folder = tmp_path_factory.mktemp("demo") / "data"
    with RunningTidings(folder, words=("--clock", yesterday)) as up:
        filled = run_tidings("demo", "--size", "small", "--json", "--data-dir", str(folder))
        assert filled.returncode == 0, filled.stderr
        assert json.loads(filled.stdout)["played"] is True
        yield up


def test_the_days_have_what_they_had(lived: RunningTidings) -> None:
    today = datetime.now(UTC).date()
    with lived.client() as api:
        days = {"from": str(today - timedelta(days=3)), "to": str(today)}
        counted = api.get("/api/v1/notifications/counters", params=days).json()
        batches = api.get("/api/v1/batches").json()["items"]
        webhooks = api.get("/api/v1/webhooks").json()["items"]
        spent = api.get("/api/v1/router/spend", params={"by": "day"}).json()["items"]
        waiting = api.get("/api/v1/notifications", params={"status": "scheduled"}).json()["items"]
    assert {day["day"] for day in counted["days"]} >= {str(today - timedelta(days=1))}
    assert {"accepted", "delivered", "suppressed", "deferred"} <= set(counted["totals"])
    channels = {one["channel"] for day in counted["days"] for one in day["counts"]}
    assert {"auto", "email", "inapp", "sms"} <= channels
    assert {"draft"} <= {one["status"] for one in batches}
    assert any(one["consecutive_failures"] for one in webhooks)
    assert len({one["part"] for one in spent}) >= 2
    assert waiting
    # No clock but the machine's is left.
    assert abs(datetime.fromisoformat(waiting[0]["created_at"]) - datetime.now(UTC)) < timedelta(hours=1)


def test_again_it_changes_nothing(lived: RunningTidings) -> None:
    def there() -> list[list[str]]:
        lists = ("batches", "recipients?limit=200", "webhooks", "events/received", "suppressions")
        with lived.client() as api:
            listed = {name: api.get(f"/api/v1/{name}").json()["items"] for name in lists}
        # The simulator of upstream services goes on telling of changes, whatever the demo does.
        listed["events/received"] = [
            one for one in listed["events/received"] if not one["type"].startswith("upstream.")
        ]
        return [[one["id"] for one in found] for found in listed.values()]

    before = there()
    again = run_tidings("demo", "--size", "small", "--json", "--data-dir", str(lived.data_dir))
    assert json.loads(again.stdout)["played"] is False
    assert there() == before


def test_a_tenant_of_another_name_is_left_alone(lived: RunningTidings) -> None:
    with lived.client("platform_key") as platform:
        made = platform.post("/internal/v1/tenants", json={"name": "Bank", "slug": "bank"}).json()
    refused = run_tidings(
        "demo", "--data-dir", str(lived.data_dir), "--key", lived.demo["platform_key"], "--tenant", made["id"]
    )
    assert refused.returncode != 0
    assert "is not called demo or test" in refused.stderr
