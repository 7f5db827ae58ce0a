"""Deprecated routes say since when, until when and what to use instead."""

from datetime import UTC, datetime

from tidings.kernel.http.deprecation import Deprecated


def test_headers_name_the_dates_and_the_successor() -> None:
    deprecated = Deprecated(since=datetime(2026, 1, 1, tzinfo=UTC), successor="/api/v2/things")

    assert deprecated.headers() == {
        "Deprecation": "@1767225600",
        "Sunset": "Tue, 30 Jun 2026 00:00:00 GMT",
        "Link": '</api/v2/things>; rel="successor-version"',
    }
