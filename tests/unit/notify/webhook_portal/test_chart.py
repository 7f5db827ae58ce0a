"""Charts show every call, in proportion, and say the numbers to those who do not see them."""

import re
from datetime import UTC, datetime, timedelta

from tidings.notify.ids import WebhookId
from tidings.notify.webhook_portal.chart import Bar, chart, days_of, hours_of, rate_of
from tidings.notify.webhook_portal.strings import languages
from tidings.notify.webhooks.call_counts import WebhookHour

NOW = datetime(2026, 11, 15, 12, 30, tzinfo=UTC)
WORDS = languages()["en"]


def at(hours_ago: int, taken: int, not_taken: int = 0) -> WebhookHour:
    hour = NOW.replace(minute=0) - timedelta(hours=hours_ago)
    return WebhookHour(subscription_id=WebhookId("whs_1"), hour=hour, taken=taken, not_taken=not_taken)


def test_hours_and_days_have_all_calls_of_their_time() -> None:
    hours = [at(150, 7), at(30, 2, 1), at(23, 4), at(0, 10, 5)]

    by_hour, by_day = hours_of(hours, now=NOW), days_of(hours, now=NOW)

    assert (len(by_hour), len(by_day)) == (24, 7)
    assert by_hour[-1] == Bar(label="12:00", taken=10, not_taken=5)
    assert by_hour[0].taken == 4
    assert by_day[-1] == Bar(label="11-15", taken=10, not_taken=5)
    assert sum(bar.taken for bar in by_day) == 23


def test_the_rate_is_of_the_last_day() -> None:
    assert rate_of([at(30, 100), at(1, 3, 1)], now=NOW) == (3, 4)
    assert rate_of([at(30, 100)], now=NOW) is None


def test_a_single_failure_among_thousands_is_seen() -> None:
    bars = [Bar(label="a", taken=5000, not_taken=1), Bar(label="b", taken=0, not_taken=0)]

    drawn = chart(WORDS, "Calls", bars, name="day")

    heights = re.findall(r'class="(\w+)"[^>]* height="([\d.]+)"', drawn)
    assert [kind for kind, _ in heights] == ["taken", "lost"]
    assert float(heights[1][1]) >= 2
    assert sum(float(height) for _, height in heights) <= 90
    assert "Taken: 5000. Not taken: 1." in drawn
    assert drawn.count("<tr><th scope=row>") == 1


def test_without_calls_there_is_no_chart() -> None:
    assert "<svg" not in chart(WORDS, "Calls", [Bar(label="a", taken=0, not_taken=0)], name="day")
