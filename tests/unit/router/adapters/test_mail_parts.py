"""Whatever a vendor of mail is handed has passed the checks of our own mails."""

from dataclasses import replace
from typing import Any

import pytest

from tests.support.vendors import MESSAGE
from tests.unit.router.adapters.mails import FULL, FURTHER, NOW
from tidings.contracts.messages import Address
from tidings.kernel.errors import BadValueError
from tidings.router.adapters.mail.parts import parts_of, whole_mail


def test_the_pieces_of_a_mail() -> None:
    """Addresses in one spelling, headers on one line of ASCII each."""
    parts = parts_of(replace(FULL, to="laila@bücher.example"), orders=())

    assert (parts.sender, parts.to, parts.reply_to) == (
        "orders@shop.example",
        "laila@xn--bcher-kva.example",
        "help@shop.example",
    )
    assert list(parts.headers) == FURTHER


def test_a_long_header_comes_on_one_line() -> None:
    """Folding is the vendor's."""
    words = " ".join(["tea"] * 60)

    assert parts_of(replace(MESSAGE, headers=(("X-Words", words),)), orders=()).headers[-1] == (
        "X-Words",
        words,
    )


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("subject", {"subject": "x\r\nBcc: all@example.test"}),
        ("to", {"to": "a@example.test\r\nBcc: b"}),
        ("to_name", {"to_name": "x\ny"}),
        ("sender.name", {"sender": Address(value="a@shop.example", name="x\r\ny")}),
        ("reply_to", {"reply_to": Address(value="nobody")}),
        ("headers[0]", {"headers": (("X-A", "x\r\nBcc: y"),)}),
        ("headers[0]", {"headers": (("Bcc", "y@example.test"),)}),
        ("headers[0]", {"headers": (("X-Vendor-Order", "y"),)}),
        ("list_unsubscribe", {"list_unsubscribe": "https://shop.example/>\r\nX: y"}),
        ("text", {"text": "a\0b"}),
        ("html", {"html": "a\ud800b"}),
        ("channel", {"channel": "sms"}),
        ("message_id", {"message_id": "a b"}),
    ],
)
def test_nothing_is_smuggled(field: str, changes: dict[str, Any]) -> None:
    """Neither into pieces nor into a whole mail; named by the field, without the value."""
    for ask in (
        lambda message: parts_of(message, orders=("x-vendor-",)),
        lambda message: whole_mail(message, at=NOW, orders=("x-vendor-",)),
    ):
        with pytest.raises(BadValueError) as refused:
            ask(replace(MESSAGE, **changes))

        assert refused.value.field == field
        assert "example.test" not in str(refused.value)


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("to", {"to": "лайла@example.test"}),
        ("sender", {"sender": Address(value="чай@shop.example")}),
        ("reply_to", {"reply_to": Address(value="чай@shop.example")}),
    ],
)
def test_a_whole_mail_needs_ascii_addresses(field: str, changes: dict[str, Any]) -> None:
    """These vendors do not speak SMTPUTF8."""
    with pytest.raises(BadValueError) as refused:
        whole_mail(replace(MESSAGE, **changes), at=NOW, orders=())

    assert refused.value.field == field
