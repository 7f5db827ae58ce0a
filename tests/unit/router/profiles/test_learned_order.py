"""The simulated population of the bench: the same every time, and a comparison on equal terms."""

from itertools import islice
from xml.etree import ElementTree

import pytest
from bench.chart import Line, Panel, draw_chart
from bench.learned_order import LADDER, MESSAGES, Tally, climb, fortunes, simulate

from tidings.contracts.tenants import Channel

_FEW = 60


def test_the_same_seed_gives_the_same_figures() -> None:
    one, other = simulate("learned", 180, people=_FEW), simulate("learned", 180, people=_FEW)

    assert one == other
    assert sum(tally.sent for tally in one.rounds) == _FEW * MESSAGES


def test_with_time_for_every_step_no_order_delivers_more() -> None:
    """All meet the same fortune: only cost and waiting differ, and learning costs less than the policy's order."""
    fixed, cheapest, learned = (
        simulate(order, 240, people=_FEW) for order in ("fixed", "cheapest", "learned")
    )

    assert fixed.share == cheapest.share == learned.share
    assert learned.cost < fixed.cost
    assert learned.steps < fixed.steps


def test_a_ladder_ends_with_its_time_or_its_delivery() -> None:
    nowhere: dict[Channel, bool] = dict.fromkeys((step.channel for step in LADDER), False)
    tally = Tally()

    assert climb(LADDER, nowhere, 120, tally) == list(LADDER[:2])
    assert climb(LADDER, {**nowhere, "whatsapp": True}, 120, tally) == [LADDER[0]]
    assert tally == Tally(sent=2, arrived=1, micros=5_000 + 35_000 + 5_000, steps=3)


def test_people_differ_and_stay_themselves() -> None:
    first = [arrives for _, _, arrives in islice(fortunes(200), 200)]

    assert sum(one["sms"] for one in first) / 200 == pytest.approx(0.9 * 0.9, abs=0.1)
    assert sum(one["telegram"] for one in first) / 200 == pytest.approx(0.35 * 0.95, abs=0.1)


def test_a_chart_is_a_picture_with_all_its_lines() -> None:
    panel = Panel(title="a < b", unit="%", lines=[Line("one & only", [1.0, 2.0]), Line("flat", [1.5, 1.5])])

    drawn = ElementTree.fromstring(draw_chart(title="t", across="n", panels=[panel, panel]))

    kind = "{http://www.w3.org/2000/svg}"
    assert len(drawn.findall(f"{kind}polyline")) == 4
    texts = [text.text for text in drawn.findall(f"{kind}text")]
    assert {"a < b, %", "one & only", "flat"} <= set(texts)
