"""What is kept of a vendor's words: nothing of the person, nothing of the message, however it is echoed."""

from dataclasses import replace

import pytest

from tests.support.vendors import MESSAGE
from tidings.contracts.messages import OutboundMessage
from tidings.router.adapters.redaction import MOST_CHARACTERS, clean, clean_code

MAIL = replace(
    MESSAGE,
    to="laila.unmistakable@example.test",
    to_name="Laila Nasser",
    subject="Your code",
    text="Your code is 482915. Do not tell it to anybody.",
    html="<p>Your code is <b>482915</b>.</p>",
)
SMS = replace(MAIL, channel="sms", to="+4915198000431")


@pytest.mark.parametrize(
    ("message", "said", "kept"),
    [
        (MAIL, "<laila.unmistakable@example.test>: User unknown", "<…>: User unknown"),
        (MAIL, "LAILA.UNMISTAKABLE@EXAMPLE.TEST is not known", "… is not known"),
        (MAIL, "GET /to/laila.unmistakable%40example.test failed", "GET /to/… failed"),
        (MAIL, "mailbox of Laila Nasser is full", "mailbox of … is full"),
        (SMS, "number 4915198000431 is not valid", "number … is not valid"),
        (SMS, "number 0151 98000431 is not valid", "number … is not valid"),
        (SMS, "number +49 151 9800-0431 is not valid", "number +… is not valid"),
        (SMS, "to=%2B4915198000431 refused", "to=… refused"),
        (SMS, 'content "Your code is 482915. Do not tell" is spam', 'content "…" is spam'),
        (SMS, "spam: 482915", "spam: …"),
        (SMS, "spam: 482-915", "spam: …"),
        (SMS, "Authorization: Bearer sk_live_0123456789abcdef is refused", None),
        (SMS, "Insufficient funds", "Insufficient funds"),
        (SMS, "is not allowed to this destination", "is not allowed to this destination"),
    ],
)
def test_an_echo_is_not_kept(message: OutboundMessage, said: str, kept: str | None) -> None:
    found = clean(said, message)
    if kept is not None:
        assert found == kept
    for secret in ("unmistakable", "nasser", "8000431", "482915", "sk_live"):
        assert secret not in found.lower()


def test_other_devices_of_the_person_are_not_kept_either() -> None:
    push = replace(MAIL, channel="push", to="token-one", also_to=("token-two",))
    assert clean("token-two is not registered", push) == "… is not registered"


def test_a_code_keeps_its_number_where_the_message_has_the_same() -> None:
    order = replace(SMS, text="Your order 30003 is on its way")
    assert clean_code("30003", order) == "30003"
    assert clean_code("laila.unmistakable@example.test", MAIL) == "…"


def test_it_stays_short() -> None:
    assert len(clean("too long " * 1000, MAIL)) == MOST_CHARACTERS
