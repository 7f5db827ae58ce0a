"""Notes of suppressions: what we wrote ourselves may be shown to anybody, what people wrote may not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.notify.suppressions.model import asked_by, asked_notes

CONVERSATION = "conv_01M7FH87G06QQE67ATFGNQ1BJ2"


def test_the_word_its_language_and_the_conversation_are_told() -> None:
    notes = asked_notes(keyword="TSAYA", language="ha", conversation_id=CONVERSATION)

    assert notes == f"TSAYA, in Hausa, conversation {CONVERSATION}"
    assert asked_by(notes) == notes


@given(st.text(max_size=100), st.text(max_size=8))
def test_whatever_the_keyword_is_it_is_told_and_is_no_address(keyword: str, language: str) -> None:
    shown = asked_by(asked_notes(keyword=keyword, language=language, conversation_id=CONVERSATION))

    assert shown is not None
    assert "@" not in shown


@pytest.mark.parametrize(
    "notes",
    [
        None,
        "",
        "Laila called from +93701234567",
        "laila@example.test asked for it",
        f"laila@example.test, in Hausa, conversation {CONVERSATION}",
        f"+93701234567, in Hausa, conversation {CONVERSATION}",
        f"STOP, in Hausa, conversation {CONVERSATION}, from +93701234567",
    ],
)
def test_what_people_wrote_by_hand_is_not_shown(notes: str | None) -> None:
    assert asked_by(notes) is None
