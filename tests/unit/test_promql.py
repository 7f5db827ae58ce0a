"""The evaluator of alert rules says what Prometheus would say."""

import pytest

from tests.support.promql import Scrape, evaluate


def scrapes(*texts: str) -> list[Scrape]:
    return [Scrape(at=60.0 * n, text=text) for n, text in enumerate(texts)]


BEFORE = '# TYPE a counter\na_total{g="x"} 5\na_total{g="y"} 1\n# TYPE w gauge\nw{o="n"} 3\n'
AFTER = (
    '# TYPE a counter\na_total{g="x"} 9\na_total{g="y"} 1\na_total{g="z"} 7\n# TYPE w gauge\nw{o="n"} 40\n'
)


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("max by (o) (w) > 30", {frozenset({("o", "n")}): 40}),
        ("max(w) > 40", {}),
        ("max(w) > 100 or max(w) > 30", {frozenset(): 40}),
        # A series that is first seen with a value in it has not increased.
        ("sum by (g) (increase(a_total[15m])) > 0", {frozenset({("g", "x")}): 4}),
        ('sum(increase(a_total{g!="x"}[15m])) > 0', {}),
        ('sum(rate(a_total{g=~"x|z"}[1m])) / sum(rate(a_total[1m])) > 0.5', {frozenset(): 1.0}),
        ('absent(w{o="n"})', {}),
        ('absent(w{o="m"})', {frozenset(): 1.0}),
    ],
)
def test_expressions(expression: str, found: dict[frozenset[tuple[str, str]], float]) -> None:
    assert evaluate(expression, scrapes(BEFORE, AFTER)) == found


def test_a_counter_that_was_begun_anew_has_grown() -> None:
    low = '# TYPE a counter\na_total{g="x"} 2\n'

    assert evaluate("sum(increase(a_total[15m])) > 0", scrapes(BEFORE, low)) == {frozenset(): 2}


def test_what_is_outside_the_window_does_not_count() -> None:
    later = [Scrape(0, BEFORE), Scrape(10_000, AFTER), Scrape(10_060, AFTER)]

    assert evaluate("sum(increase(a_total[15m])) > 0", later) == {}


@pytest.mark.parametrize("expression", ["max(w) > 1 unless x", "topk(1, w)", "w offset 5m > 1"])
def test_what_it_does_not_know_is_refused(expression: str) -> None:
    with pytest.raises((ValueError, TypeError, IndexError)):
        evaluate(expression, scrapes(BEFORE))
