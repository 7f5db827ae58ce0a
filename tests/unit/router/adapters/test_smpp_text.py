"""Texts as SMPP carries them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.contracts.sms_segments import measure
from tidings.kernel.errors import BadValueError
from tidings.router.adapters.smpp.pdu import DeliverSm, SmppAddress
from tidings.router.adapters.smpp.text_encoding import (
    Alphabet,
    LongBy,
    PartHeader,
    SubmitPart,
    parts_of,
    read_text,
    split_header,
)

GSM = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCXYZÄÖÑÜ§¿abcxyzäöñüà\f^{}\\[~]|€"


def _parts(text: str, *, alphabet: Alphabet = "gsm7", long_by: LongBy = "udh") -> list[SubmitPart]:
    return parts_of(text, "ntf_1", alphabet=alphabet, long_by=long_by)


def _back(part: SubmitPart, tlvs: dict[int, bytes] | None = None) -> tuple[bytes, PartHeader | None]:
    place = SmppAddress(1, 1, "447700900123")
    return split_header(
        DeliverSm(
            source=place,
            destination=place,
            esm_class=part.esm_class,
            data_coding=part.data_coding,
            content=part.content,
            tlvs=tlvs or {},
        )
    )


@given(
    st.text(
        alphabet=st.sampled_from(GSM) | st.characters(exclude_categories=["Cs"]), min_size=1, max_size=700
    )
)
def test_what_is_sent_is_what_was_counted_and_can_be_read(text: str) -> None:
    """As many parts as the measure says, and together they are the text."""
    parts = _parts(text)

    assert len(parts) == measure(text).segments
    pieces = [_back(part) for part in parts]
    whole = b"".join(content for content, _ in pieces)
    assert read_text(whole, parts[0].data_coding, alphabet="gsm7") == text
    assert {len(part.content) <= 160 for part in parts} == {True}
    if len(parts) > 1:
        assert [piece.number if piece else None for _, piece in pieces] == list(range(1, len(parts) + 1))


@given(st.text(alphabet=GSM, min_size=1, max_size=400))
def test_no_character_is_cut_in_two(text: str) -> None:
    """Each part can be read by itself."""
    parts = _parts(text)

    assert "".join(str(read_text(_back(part)[0], 0, alphabet="gsm7")) for part in parts) == text


def test_the_bytes_of_the_default_alphabet() -> None:
    """By GSM 03.38's table, one byte each, with an escape before the extension."""
    (part,) = _parts("@£ A€{\n")

    assert (part.data_coding, part.esm_class, part.content) == (0, 0, b"\x00\x01 A\x1be\x1b(\x0a")


def test_one_letter_from_elsewhere_makes_it_ucs2() -> None:
    """Two bytes each, four where two is not enough."""
    (part,) = _parts("ж🍵")

    assert (part.data_coding, part.content) == (8, b"\x04\x36\xd8\x3c\xdf\x75")


def test_a_long_one_by_its_header() -> None:
    """The header says which part of how many, under a reference that comes of the message's id."""
    first, second = _parts("x" * 161)
    again = _parts("x" * 161)

    assert (first.esm_class, second.esm_class) == (0x40, 0x40)
    assert first.content[:3] == b"\x05\x00\x03"
    assert (first.content[4:6], second.content[4:6]) == (b"\x02\x01", b"\x02\x02")
    assert first.content[3] == second.content[3]
    assert (len(first.content), len(second.content)) == (159, 6 + 8)
    assert again == [first, second]


def test_a_long_one_by_optional_parameters() -> None:
    """sar_msg_ref_num, sar_total_segments, sar_segment_seqnum; the text stays bare."""
    first, second = _parts("x" * 161, long_by="sar")

    assert (first.esm_class, first.content, second.content) == (0, b"x" * 153, b"x" * 8)
    assert first.tlvs[:4] == b"\x02\x0c\x00\x02"
    assert first.tlvs[6:] == b"\x02\x0e\x00\x01\x02" + b"\x02\x0f\x00\x01\x01"
    assert second.tlvs == first.tlvs[:-1] + b"\x02"


def test_a_long_one_as_a_payload() -> None:
    """All of it in one, and a short one as always."""
    (part,) = _parts("x" * 161, long_by="payload")

    assert (part.content, part.tlvs) == (b"", b"\x04\x24\x00\xa1" + b"x" * 161)
    assert _parts("x", long_by="payload")[0].content == b"x"


def test_an_smsc_whose_default_is_latin1() -> None:
    """Latin letters in one byte; what it does not have goes as UCS-2. Parts are as long as the network will make them."""
    assert _parts("é@", alphabet="latin1")[0].content == b"\xe9@"
    assert _parts("5 €", alphabet="latin1")[0].data_coding == 8
    assert [len(part.content) for part in _parts("[" * 81, alphabet="latin1")] == [6 + 76, 6 + 5]


@pytest.mark.parametrize("text", ["", "x" * (153 * 256)])
def test_what_can_not_be_said(text: str) -> None:
    """Nothing, and more than any header can number."""
    with pytest.raises(BadValueError, match="text"):
        _parts(text)


@pytest.mark.parametrize(
    ("coding", "content", "text"),
    [
        (0x00, b"\x00\x1be\x1bA\xff", "@€A\ufffd"),
        (0x01, b"plain", "plain"),
        (0x03, b"\xe9", "é"),
        (0x04, b"\x01\x02", None),
        (0x06, b"\xb0", "А"),
        (0x08, b"\x04\x36", "ж"),
        (0x08, b"\x04", "\ufffd"),
        (0x10, b"\x00", "@"),
        (0x18, b"\x04\x36", "ж"),
        (0xF1, b"\x00", "@"),
        (0xF5, b"\x00", None),
        (0xE0, b"\x04\x36", "ж"),
        (0x0A, b"?", None),
    ],
)
def test_what_somebody_wrote(coding: int, content: bytes, text: str | None) -> None:
    """In the encodings that SMSCs use; None for what is no text."""
    assert read_text(content, coding, alphabet="gsm7") == text


def test_parts_of_others() -> None:
    """A reference of two bytes; optional parameters; a header that says something else."""
    place = SmppAddress(1, 1, "1")

    def piece(content: bytes, esm_class: int = 0x40, **tlvs: bytes) -> tuple[bytes, PartHeader | None]:
        tags = {"ref": 0x020C, "total": 0x020E, "number": 0x020F}
        return split_header(
            DeliverSm(
                source=place,
                destination=place,
                esm_class=esm_class,
                data_coding=0,
                content=content,
                tlvs={tags[name]: value for name, value in tlvs.items()},
            )
        )

    assert piece(b"\x06\x08\x04\x01\x02\x03\x02hi") == (
        b"hi",
        PartHeader(reference=0x10102, total=3, number=2),
    )
    assert piece(b"hi", 0, ref=b"\0\x07", total=b"\x02", number=b"\x01") == (
        b"hi",
        PartHeader(reference=0x20007, total=2, number=1),
    )
    assert piece(b"\x06\x05\x04\x00\x50\x00\x00hi") == (b"hi", None)
    assert piece(b"\x05\x00\x03\x01\x02\x09hi") == (b"hi", None)
    assert piece(b"\xffhi") == (b"", None)
