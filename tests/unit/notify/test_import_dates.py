"""Dates of other services, each as it writes them."""

from datetime import UTC, datetime

import pytest

from tidings.notify.imports.dates import read_date, read_iso

THEN = datetime(2020, 11, 13, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "1605261600",
        "1605261600.0",
        "1605261600000",
        "2020-11-13T10:00:00Z",
        "2020-11-13T10:00:00",
        "2020-11-13 10:00:00 UTC",
        "2020-11-13T05:00:00.0000000-05:00",
        "20201113T100000Z",
        "Fri, 13 Nov 2020 10:00:00 UTC",
        "Fri, 13 Nov 2020 10:00:00 GMT",
        "Fri, 13 Nov 2020 10:00:00 -0000",
        "13 Nov 2020 14:30:00 +0430",
    ],
)
def test_one_moment_in_many_words(text: str) -> None:
    assert read_date(text) == THEN


def test_a_day_without_a_time_is_its_beginning() -> None:
    assert read_date("2020-11-13") == read_date("20201113") == datetime(2020, 11, 13, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "yesterday", "13/11/2020", "-1", "1e9", "nan", "inf", "999999999999", "16052616001605261600", "١٦٠٥٢٦١٦٠٠",
        "0001-01-01T00:00:00", "0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00", "1969-12-31T23:59:59Z",
        "Fri, 99 Nov 2020 10:00:00 UTC", "Fri, 13 Nov 2020 10:00:00 +9999", ",", " ", "{'secret': 1}",
    ],
)  # fmt: skip
def test_what_is_no_date(text: str) -> None:
    assert read_date(text) is None


def test_what_the_database_could_not_keep() -> None:
    assert read_iso("9999-12-31T23:59:59-05:00") is None
