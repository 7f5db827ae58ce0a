"""What a digest tells of each item, and what it leaves out."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tidings.contracts.ids import NOTIFICATION
from tidings.notify.digests.lines import MOST_SHOWN, line_of, variables_of
from tidings.notify.render.model import Rendered

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def rendered(subject: str | None = None, text: str | None = None) -> Rendered:
    return Rendered(subject=subject, html=None, text=text, locale="en", direction="ltr")


def line(words: Rendered | None, *, allowed: tuple[str, ...] = (), **variables: Any) -> Any:
    return line_of(words, variables, template_key="order_shipped", at=NOW, allowed_link_domains=allowed)


def test_a_mail_is_told_by_its_subject_and_a_push_with_its_text() -> None:
    assert (line(rendered("Order  A-1\n")).title, line(rendered("Order A-1")).summary) == ("Order A-1", None)
    push = line(rendered("Order A-1", "It is on its way."))
    assert (push.title, push.summary) == ("Order A-1", "It is on its way.")


def test_what_has_no_subject_is_told_by_its_text_and_what_can_not_be_rendered_by_its_template() -> None:
    assert line(rendered(text="It is on its way.")).title == "It is on its way."
    assert line(None).title == "order shipped"


def test_long_texts_are_cut() -> None:
    told = line(rendered("x" * 900, "y" * 900))
    assert (len(told.title), len(told.summary or "")) == (200, 300)


@pytest.mark.parametrize(
    ("variables", "url"),
    [
        ({"url": "https://a.test/1", "manage_url": "https://a.test/2"}, "https://a.test/1"),
        ({"manage_url": "https://a.test/2"}, "https://a.test/2"),
        ({"one_url": "https://a.test/1", "two_url": "https://a.test/2"}, None),
        ({"url": "javascript:alert(1)"}, None),
        ({"url": "https://b.test/1"}, None),
        ({"url": 7}, None),
        ({}, None),
    ],
)
def test_a_line_leads_where_its_message_does_if_it_may(variables: dict[str, Any], url: str | None) -> None:
    assert line(rendered("x"), allowed=("a.test",), **variables).url == url


def test_of_many_the_newest_are_shown_and_the_others_counted() -> None:
    ids = sorted(NOTIFICATION.new(NOW) for _ in range(MOST_SHOWN + 37))
    lines = {id_: line(rendered(f"No. {n}")) for n, id_ in enumerate(ids)}

    filled = variables_of(lines, ids[1:], ["email"])

    assert (filled["count"], len(filled["items"]), filled["more"]) == (86, 50, 36)
    assert filled["items"][0]["title"] == "No. 86"
    assert "more" not in variables_of(lines, ids[:3], ["email"])


def test_long_lines_leave_room_for_each_other() -> None:
    ids = sorted(NOTIFICATION.new(NOW) for _ in range(MOST_SHOWN))
    lines = {id_: line(rendered("ی" * 200, "ی" * 300), url=f"https://a.test/{'x' * 900}") for id_ in ids}

    filled = variables_of(lines, ids, ["email"])

    assert 0 < len(filled["items"]) < MOST_SHOWN
    assert filled["more"] == MOST_SHOWN - len(filled["items"])


def test_a_chat_is_told_less_than_a_mail_and_always_something() -> None:
    ids = sorted(NOTIFICATION.new(NOW) for _ in range(MOST_SHOWN))
    # Each of these counts as two.
    lines = {id_: line(rendered("🎈" * 200)) for id_ in ids}

    filled = variables_of(lines, ids, ["sms", "telegram"])

    assert (len(filled["items"]), filled["more"], filled["count"]) == (7, 43, 50)
    longest = {ids[0]: line(rendered("🎈" * 300, "🎈" * 400), url=f"https://a.test/{'x' * 900}")}
    assert len(variables_of(longest, ids[:1], ["viber"])["items"]) == 1
