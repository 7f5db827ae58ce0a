"""Receipts as SMSCs write them."""

from datetime import UTC, datetime

import pytest

from tidings.contracts.callback_forms import Details, ReadEvent
from tidings.router.adapters.smpp_pdu import Delivery, Place
from tidings.router.adapters.smpp_receipts import IdForm, ReceiptForm, is_receipt

NOW = datetime(2026, 11, 15, 12, 30, tzinfo=UTC)
#: SMPP 3.4, appendix B.
TEXT = "id:0123456789 sub:001 dlvrd:001 submit date:2611151200 done date:2611151201 stat:DELIVRD err:000 Text:hello there"


def _delivery(text: str = "", *, esm_class: int = 0x04, **tlvs: bytes) -> Delivery:
    tags = {"receipted": 0x001E, "state": 0x0427, "network": 0x0423}
    place = Place(1, 1, "447700900123")
    return Delivery(
        source=place,
        destination=place,
        esm_class=esm_class,
        data_coding=0,
        content=text.encode("latin-1"),
        tlvs={tags[name]: value for name, value in tlvs.items()},
    )


def _read(
    delivery: Delivery, *, response_ids: IdForm = "text", receipt_ids: IdForm = "text", offset: int = 0
) -> ReadEvent | None:
    form = ReceiptForm(response_ids=response_ids, receipt_ids=receipt_ids, offset_minutes=offset)
    return form.read(delivery, now=NOW)


def test_the_text_of_the_specification() -> None:
    """Whose, what, when."""
    assert _read(_delivery(TEXT)) == ReadEvent(
        vendor_message_id="0123456789",
        word="delivrd",
        status="delivered",
        occurred_at=datetime(2026, 11, 15, 12, 1, tzinfo=UTC),
        discriminator="delivrd 2611151201",
        details=None,
    )


def test_optional_parameters_alone() -> None:
    """An SMSC that writes no text."""
    found = _read(_delivery(receipted=b"ab-1\0", state=b"\x05", network=b"\x03\x00\x1b"))

    assert found == ReadEvent(
        vendor_message_id="ab-1",
        word="undeliv",
        status="failed_perm",
        occurred_at=None,
        discriminator="undeliv",
        details=Details(code="27"),
    )


@pytest.mark.parametrize(
    ("stat", "status"),
    [
        ("DELIVRD", "delivered"),
        ("ACCEPTD", "accepted"),
        ("ENROUTE", "sent"),
        ("EXPIRED", "failed_perm"),
        ("UNDELIV", "failed_perm"),
        ("REJECTD", "rejected_by_provider"),
        ("DELETED", "cancelled"),
        ("UNKNOWN", "unknown"),
        ("Sonderfall", "unknown"),
    ],
)
def test_their_word_and_ours(stat: str, status: str) -> None:
    """Every word of the specification; another one is kept as it is."""
    found = _read(_delivery(TEXT.replace("DELIVRD", stat).replace("err:000", "err:069")))

    assert found is not None
    assert (found.word, found.status, found.details) == (stat.lower(), status, Details(code="069"))


@pytest.mark.parametrize(
    ("response", "receipt", "answered", "told"),
    [
        ("hex", "decimal", "499602d2", "1234567890"),
        ("hex", "decimal", "0499602D2", "01234567890"),
        ("decimal", "hex", "1234567890", "499602D2"),
        ("decimal", "decimal", "1234567890", "0001234567890"),
        ("hex", "decimal", "not-a-number", "not-a-number"),
        ("text", "text", "0aB-1", "0aB-1"),
    ],
)
def test_ids_that_come_back_in_another_form(
    response: IdForm, receipt: IdForm, answered: str, told: str
) -> None:
    """The answer's and the receipt's are the same id."""
    form = ReceiptForm(response_ids=response, receipt_ids=receipt, offset_minutes=0)
    found = form.read(_delivery(TEXT.replace("0123456789", told)), now=NOW)
    by_parameter = form.read(_delivery(TEXT, receipted=answered.encode() + b"\0"), now=NOW)

    assert found is not None
    assert by_parameter is not None
    assert form.response_id(answered) == found.vendor_message_id == by_parameter.vendor_message_id


@pytest.mark.parametrize(
    ("written", "offset", "moment"),
    [
        ("261115120130", 0, datetime(2026, 11, 15, 12, 1, 30, tzinfo=UTC)),
        ("20261115120130", 0, datetime(2026, 11, 15, 12, 1, 30, tzinfo=UTC)),
        ("2611151301", 60, datetime(2026, 11, 15, 12, 1, tzinfo=UTC)),
        ("2611181201", 0, None),
        ("2613151201", 0, None),
        ("yesterday", 0, None),
        ("", 0, None),
    ],
)
def test_the_time_it_happened(written: str, offset: int, moment: datetime | None) -> None:
    """In the SMSC's own zone; none that is far ahead of us."""
    found = _read(_delivery(TEXT.replace("2611151201", written)), offset=offset)

    assert found is not None
    assert found.occurred_at == moment
    assert found.discriminator == f"delivrd {written}".strip()


def test_nobody_can_write_a_receipt() -> None:
    """The text alone makes none; the class does, or both parameters."""
    assert not is_receipt(_delivery(TEXT, esm_class=0))
    assert not is_receipt(_delivery(TEXT, esm_class=0x40))
    assert is_receipt(_delivery(TEXT, esm_class=0x04))
    assert is_receipt(_delivery(TEXT, esm_class=0x20))
    assert is_receipt(_delivery(esm_class=0, receipted=b"1\0", state=b"\x02"))


def test_the_words_of_the_message_change_nothing() -> None:
    """They stand at the end, and the first of each field counts."""
    found = _read(_delivery(TEXT.replace("hello there", "id:9 stat:UNDELIV err:9")))

    assert found is not None
    assert (found.vendor_message_id, found.status) == ("0123456789", "delivered")


def test_a_zero_character_at_the_end_is_no_part_of_a_word() -> None:
    """Some SMSCs end the text with one; no column can hold it."""
    event = _read(_delivery("id:7 done date:2611151200 err:000 stat:DELIVRD\0"))

    assert event is not None
    assert (event.word, event.status) == ("delivrd", "delivered")


def test_blanks_and_underscores() -> None:
    """As some SMSCs write it."""
    found = _read(
        _delivery("ID: 77 SUB:001 DLVRD: submit_date: done_date:2611151201 Stat: UNDELIV Err: 5 text:")
    )

    assert found is not None
    assert (found.vendor_message_id, found.word, found.discriminator) == (
        "77",
        "undeliv",
        "undeliv 2611151201",
    )
    assert found.details == Details(code="5")


def test_one_that_names_no_message() -> None:
    """Nobody can say whose it is."""
    assert _read(_delivery("stat:DELIVRD")) is None
