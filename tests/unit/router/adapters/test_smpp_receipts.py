"""Receipts as SMSCs write them."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tidings.contracts.callback_forms import Details, ReadEvent
from tidings.router.adapters.smpp.delivery_receipts import IdForm, ReceiptForm, is_receipt
from tidings.router.adapters.smpp.pdu import DeliverSm, SmppAddress

NOW = datetime(2026, 11, 15, 12, 30, tzinfo=UTC)
#: SMPP 3.4, appendix B.
TEXT = "id:0123456789 sub:001 dlvrd:001 submit date:2611151200 done date:2611151201 stat:DELIVRD err:000 Text:hello there"


def _delivery(
    text: str = "", *, esm_class: int = 0x04, coding: str = "latin-1", data_coding: int = 0, **tlvs: bytes
) -> DeliverSm:
    tags = {"receipted": 0x001E, "state": 0x0427, "network": 0x0423}
    place = SmppAddress(1, 1, "447700900123")
    return DeliverSm(
        source=place,
        destination=place,
        esm_class=esm_class,
        data_coding=data_coding,
        content=text.encode(coding),
        tlvs={tags[name]: value for name, value in tlvs.items()},
    )


def _read(
    delivery: DeliverSm, *, response_ids: IdForm = "text", receipt_ids: IdForm = "text", offset: int = 0
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
        ("202611151201", 0, datetime(2026, 11, 15, 12, 1, tzinfo=UTC)),
        # smppex #46: milliseconds and a sign.
        ("261115120130912+", 0, datetime(2026, 11, 15, 12, 1, 30, tzinfo=UTC)),
        ("2611151201+04", 0, None),
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("id:  X-1  stat:   DELIVRD", ("X-1", "delivered", None), id="runs of blanks"),
        pytest.param("id:X-1\tstat:\tDELIVRD\terr:\t001", ("X-1", "delivered", "001"), id="tabs"),
        pytest.param(
            "id:X-1 stat:DELIVERED err:000", ("X-1", "delivered", None), id="Jasmin #181: DELIVERED"
        ),
        pytest.param(
            "id:X-1 stat:UNDELIVERABLE err:027",
            ("X-1", "failed_perm", "027"),
            id="Jasmin #181: UNDELIVERABLE",
        ),
        pytest.param("id:X-1 stat:Undelivered", ("X-1", "failed_perm", None), id="undelivered"),
        pytest.param(
            "id:X-1 stat:REJECTED", ("X-1", "rejected_by_provider", None), id="Jasmin #181: REJECTED"
        ),
        pytest.param("id:X-1 stat:5", ("X-1", "failed_perm", None), id="the state's number as its word"),
        pytest.param('id:"X-1" stat:"DELIVRD" err:"000"', ("X-1", "delivered", None), id="double quotes"),
        pytest.param("id:'X-1' stat:'UNDELIV' err:'E 1'", ("X-1", "failed_perm", None), id="single quotes"),
        pytest.param(
            "id:X-1,sub:001,dlvrd:000,submit date:2611151200,done date:2611151201,stat:UNDELIV,err:9",
            ("X-1", "failed_perm", "9"),
            id="commas",
        ),
        pytest.param(
            "id=X-1;stat=EXPIRED;err=0A1", ("X-1", "failed_perm", "0A1"), id="equals signs, err in hex"
        ),
        pytest.param(
            "id:X-1 stat:UNDELIV err:ABSENT_SUBSCRIBER",
            ("X-1", "failed_perm", "ABSENT_SUBSCRIBER"),
            id="err in words",
        ),
        pytest.param("id:X-1 stat:DELIVRD err:NO_ERROR", ("X-1", "delivered", None), id="no error in words"),
        pytest.param(
            "id:1526758174 submit date:1701240904 done date:1701240904 stat:DELIVRD err:000 text:hellow",
            ("1526758174", "delivered", None),
            id="jsmpp #62: without sub and dlvrd",
        ),
        pytest.param(
            "id:117062714244798261 sub:001 dlvrd:001 submit date:1706271624 done date:1706271624 stat:DELIVRD err:0000 "
            "text:H\x1bello world",
            ("117062714244798261", "delivered", None),
            id="php-smpp #70: four digits of err, an escape in the text",
        ),
        pytest.param(
            "id:a29f6845555647139e5c8f3b817f2c9a sub:001 dlvrd:001 submit date:141023215253 done date:141023215259 "
            "stat:DELIVRD err:000 text:",
            ("a29f6845555647139e5c8f3b817f2c9a", "delivered", None),
            id="Clickatell (Jasmin #70)",
        ),
        pytest.param(
            "id:0000000012345678 sub:001 dlvrd:001 submit date:1601010100 done date:1601010101 stat:DELIVRD err:000 text:none",
            ("0000000012345678", "delivered", None),
            id="Nexmo",
        ),
        pytest.param(
            "id:IIIIIIIIII sub:SSS dlvrd:DDD submit date:YYMMDDhhmm done\ndate:YYMMDDhhmm stat:EXPIRED err:E Text: id:9",
            ("IIIIIIIIII", "failed_perm", "E"),
            id="CardBoardFish: a line break in the key, Text with a capital",
        ),
        pytest.param(
            "ID:X-1 SUBMIT\x11DATE:2611151200 DONE\x11DATE:2611151201 STAT:undeliv ERR:5",
            ("X-1", "failed_perm", "5"),
            id="capitals, underscores of the GSM alphabet",
        ),
    ],
)
@pytest.mark.parametrize(
    ("coding", "data_coding"),
    [("latin-1", 0), ("latin-1", 8), ("utf-16-be", 8), ("utf-16-be", 0), ("utf-16-le", 8)],
)
def test_receipts_as_they_are_met(
    text: str, expected: tuple[str, str, str | None], coding: str, data_coding: int
) -> None:
    """By what vendors' pages and the trackers of SMPP libraries show, in every coding, whatever the coding is said to be."""
    found = _read(_delivery(text, coding=coding, data_coding=data_coding))

    assert found is not None
    code = found.details.code if found.details is not None else None
    assert (found.vendor_message_id, found.status, code) == expected


def test_words_behind_text_are_the_messages_own() -> None:
    """Also where the SMSC leaves a field out that they hold."""
    found = _read(_delivery("id:7 stat:DELIVRD text:err:9 done date:2611151201"))

    assert found is not None
    assert (found.details, found.occurred_at) == (None, None)


def test_a_header_before_the_text_is_no_part_of_it() -> None:
    """UDHI with a text in UCS-2."""
    delivery = _delivery(esm_class=0x44, data_coding=8)
    content = bytes((5, 0, 3, 1, 1, 1)) + "id:7 stat:DELIVRD".encode("utf-16-be")
    found = _read(replace(delivery, content=content))

    assert found is not None
    assert (found.vendor_message_id, found.status) == ("7", "delivered")


@pytest.mark.parametrize(
    ("text", "state", "word"),
    [
        ("stat:DELIVRD", 5, "undeliv"),
        ("stat:UNDELIV", 2, "delivrd"),
        # One that ends the message goes before one that does not: nothing comes after it.
        ("stat:DELIVRD", 1, "delivrd"),
        ("stat:ENROUTE", 2, "delivrd"),
        ("stat:DELIVRD", 7, "delivrd"),
        ("stat:Sonderfall", 5, "undeliv"),
        ("stat:Sonderfall", 99, "sonderfall"),
        ("", 3, "expired"),
    ],
)
def test_a_text_and_a_state_that_disagree(text: str, state: int, word: str) -> None:
    """The state has one meaning and the text any; Kannel reads them in this order too."""
    found = _read(_delivery(f"id:7 {text}", state=bytes((state,))))

    assert found is not None
    assert found.word == word


@pytest.mark.parametrize(
    ("network", "code"), [(b"\x03\x00\x1b", "27"), (b"027", "27"), (b"\x03\x00\x00", None), (b"\x01", None)]
)
def test_the_networks_own_code(network: bytes, code: str | None) -> None:
    """As a kind and a number, or as three digits, which Kannel has met."""
    found = _read(_delivery("id:7 stat:UNDELIV", network=network))

    assert found is not None
    assert (found.details.code if found.details is not None else None) == code


@pytest.mark.parametrize(
    "text",
    [
        "stat:DELIVRD",
        'id:"7 stat:DELIVRD',
        "",
        "what is this",
        # A large operator's (devel@kannel.org, "new DLR format").
        "00,0210021543,0210021500,,447887123456,10110200000000,we2345678i9o03er45ty67u",
    ],
)
def test_one_that_names_no_message(text: str) -> None:
    """Nobody can say whose it is."""
    assert _read(_delivery(text)) is None
