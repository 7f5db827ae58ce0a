"""What goes over the wire, and what an SMSC's statuses mean."""

import struct
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.played_smpp import deliver, played_smpp
from tests.support.smpp import SMS, bound, smpp_settings
from tidings.contracts.messages import Accepted, Address, Refused, TryLater
from tidings.kernel.errors import BadValueError
from tidings.router.adapters.smpp.adapter import KIND, SmppSettings
from tidings.router.adapters.smpp.addresses import destination_of, source_of, spelled
from tidings.router.adapters.smpp.command_status import name_of, outcome_of, verdict_of
from tidings.router.adapters.smpp.delivery_receipts import ReceiptForm
from tidings.router.adapters.smpp.duplicates import digest_of
from tidings.router.adapters.smpp.pdu import BadPduError, Pdu, PduStream, SmppAddress, read_delivery
from tidings.router.adapters.smpp.text_encoding import read_text, split_header
from tidings.router.adapters.smpp.window import Pace


async def test_a_submit_byte_by_byte() -> None:
    """SMPP 3.4, 4.4.1: every field in its place."""
    settings = {"service_type": "CMT", "validity_seconds": 93_784, "system_type": "VMS"}
    async with played_smpp() as smsc, bound(smpp_settings(smsc.port, **settings)) as adapter:
        await adapter.send([replace(SMS, text="hi")])

    bind, submit = smsc.heard[:2]
    assert bind.body == b"tidings\0hunter2\0VMS\0\x34\x00\x00\0"
    assert submit.body == b"".join(
        (
            b"CMT\0",
            b"\x03\x0012345\0",
            b"\x01\x01447700900123\0",
            b"\x00\x00\x00\0",
            b"000001020304000R\0",
            b"\x01\x00\x00\x00",
            b"\x02hi",
        )
    )
    assert (bind.sequence, submit.sequence) == (1, 2)


@pytest.mark.parametrize(
    ("sender", "place", "answers_to"),
    [
        ("+447700900999", SmppAddress(1, 1, "447700900999"), "+447700900999"),
        ("447700900999", SmppAddress(1, 1, "447700900999"), "+447700900999"),
        ("12345", SmppAddress(3, 0, "12345"), "12345"),
        ("Green Shop", SmppAddress(5, 0, "Green Shop"), None),
    ],
)
def test_senders(sender: str, place: SmppAddress, answers_to: str | None) -> None:
    """A number and a short code can be answered, a name can't."""
    assert source_of(sender, short_ton=3, short_npi=0) == (place, answers_to)


@pytest.mark.parametrize("sender", ["", "twelve letters", "Gr\u00fcn", "a\0b"])
def test_senders_that_no_smsc_has(sender: str) -> None:
    """None at all, too long, or nothing that every telephone shows."""
    with pytest.raises(BadValueError, match="sender"):
        source_of(sender, short_ton=3, short_npi=0)


def test_where_an_answer_arrives_is_named_as_it_was_sent_from() -> None:
    """However the SMSC types it on the way back."""
    for sender in ("+447700900999", "12345"):
        place, answers_to = source_of(sender, short_ton=3, short_npi=0)
        for ton in (place.ton, 0, 1):
            assert spelled(replace(place, ton=ton)) == answers_to
    assert spelled(SmppAddress(2, 1, "07700900999")) == "07700900999"
    assert spelled(SmppAddress(5, 0, "Bank")) == "Bank"


@pytest.mark.parametrize(
    "to", ["447700900123", "+44 7700", "laila@example.test", "+0447700900", "+4477\r\n00900123"]
)
def test_only_numbers_are_written_to(to: str) -> None:
    """In their one spelling."""
    with pytest.raises(BadValueError, match="to"):
        destination_of(to)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (0x0B, Refused(reason="the destination address is not valid", code="ESME_RINVDSTADR", status="failed_perm")),
        (0x0A, Refused(reason="the sender is not one that the SMSC takes", code="ESME_RINVSRCADR", status="rejected_by_provider")),
        (0x58, TryLater(reason="more messages than the SMSC allows", code="ESME_RTHROTTLED")),
        (0x14, TryLater(reason="the SMSC's queue is full", code="ESME_RMSGQFUL")),
        (0x08, TryLater(reason="the SMSC has trouble of its own", code="ESME_RSYSERR")),
        (0x0401, TryLater(reason="the SMSC answered with a status of its own", code="0x00000401")),
    ],
)  # fmt: skip
def test_statuses(status: int, outcome: Refused | TryLater) -> None:
    """What each means for the message; nothing that nobody knows is a refusal."""
    assert outcome_of(status, verdict_of(status, {})) == outcome


def test_an_account_may_know_better() -> None:
    """By name or by number."""
    own = {"0x00000401": "refused", "ESME_RSYSERR": "throttled"}

    assert verdict_of(0x401, own) == "refused"  # type: ignore[arg-type]
    assert verdict_of(0x08, own) == "throttled"  # type: ignore[arg-type]
    assert outcome_of(0x401, "refused") == Refused(
        reason="the SMSC answered with a status of its own", code="0x00000401", status="rejected_by_provider"
    )


def test_what_only_an_account_takes_for_later_is_no_code_of_the_status_map() -> None:
    """Which would make a no of it again, and cost somebody their number."""
    outcome = outcome_of(0x0B, verdict_of(0x0B, {"ESME_RINVDSTADR": "try_later"}))

    assert isinstance(outcome, TryLater)
    assert outcome.code == "0x0000000B"
    assert outcome.code not in {seed.code for seed in KIND.statuses}


def test_seeds_are_codes_of_outcomes() -> None:
    """And the one that makes an address unusable is among them."""
    seeds = {seed.code: (seed.canonical, seed.reason) for seed in KIND.statuses}

    assert seeds["ESME_RINVDSTADR"] == ("failed_perm", "invalid_address")
    assert set(seeds) <= {name_of(status) for status in range(0x200)}


def test_the_pace_of_an_smsc_that_says_it_is_too_much() -> None:
    """It is left alone for twice as long each time, and for less when it takes messages again."""
    pace = Pace(None)
    held = []
    now = 100.0
    for _ in range(7):
        pace.too_much(now)
        # Answers to what was under way say it again, and mean the same.
        pace.too_much(now + 0.1)
        held.append(pace.ready_at - now)
        now = pace.ready_at
    for _ in range(6):
        pace.taken()
    pace.too_much(now)

    assert held == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0]
    assert pace.ready_at - now == 0.25


def test_so_many_a_second() -> None:
    """Evenly, with little to catch up."""
    pace = Pace(10)
    moments = []
    now = 100.0
    for _ in range(5):
        now = max(now, pace.ready_at)
        moments.append(round(now - 100.0, 3))
        pace.spend(now)

    assert moments == [0.0, 0.05, 0.15, 0.25, 0.35]


def test_pdus_are_cut_out_of_any_pieces() -> None:
    """Byte by byte or all at once."""
    whole = Pdu(0x15, 0, 1).encode() + Pdu(5, 0, 2, b"abc").encode()

    stream = PduStream()
    bit_by_bit = [pdu for i in range(len(whole)) for pdu in stream.feed(whole[i : i + 1])]

    assert bit_by_bit == list(PduStream().feed(whole)) == [Pdu(0x15, 0, 1), Pdu(5, 0, 2, b"abc")]


@pytest.mark.parametrize("length", [0, 15, 0x7FFFFFFF, 0xFFFFFFFF])
def test_a_length_that_nothing_has(length: int) -> None:
    """Is refused before anything is kept of it."""
    with pytest.raises(BadPduError):
        list(PduStream().feed(struct.pack(">IIII", length, 5, 0, 1)))


def test_every_truncated_delivery_is_noticed() -> None:
    """Wherever it ends, it is read or refused, and never half of it taken for all."""
    whole = deliver(b"hello", tlvs=b"\x02\x04\x00\x02\x00\x07")[16:]
    read = []
    for end in range(len(whole)):
        try:
            read.append(read_delivery(Pdu(5, 0, 1, whole[:end])).content)
        except BadPduError:
            continue

    assert set(read) <= {b"hello"}


@given(
    body=st.binary(max_size=200),
    content=st.binary(max_size=60),
    esm_class=st.integers(0, 255),
    coding=st.integers(0, 255),
    tlvs=st.binary(max_size=40),
)
def test_whatever_an_smsc_sends_is_read_or_refused(
    body: bytes, content: bytes, esm_class: int, coding: int, tlvs: bytes
) -> None:
    """Nothing else is ever raised."""
    form = ReceiptForm(response_ids="hex", receipt_ids="decimal", offset_minutes=0)
    whole = deliver(content, esm_class=esm_class, data_coding=coding, tlvs=tlvs)[16:]
    for one in (Pdu(5, 0, 1, body), Pdu(0x103, 0, 1, body), Pdu(5, 0, 1, whole)):
        try:
            delivery = read_delivery(one)
        except BadPduError:
            continue
        text, _ = split_header(delivery)
        read_text(text, delivery.data_coding, alphabet="gsm7")
        form.read(delivery, now=datetime(2026, 11, 15, tzinfo=UTC))
        spelled(delivery.source)
        digest_of(delivery, text)


def test_settings_hide_what_is_secret() -> None:
    """And say what is wrong with them."""
    settings = msgspec.convert(smpp_settings(2775), SmppSettings)

    assert "hunter2" not in repr(settings)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(smpp_settings(2775, windw=3), SmppSettings)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(smpp_settings(2775, statuses={"401": "refused"}), SmppSettings)


def test_every_setting_is_documented() -> None:
    """In docs/smpp.md."""
    page = Path("docs/smpp.md").read_text()

    assert [name for name in SmppSettings.__struct_fields__ if f"`{name}`" not in page] == []


@pytest.mark.parametrize(
    ("source", "answers_to"), [(None, "+447700900999"), ("54321", "54321"), ("Shop", None)]
)
async def test_the_accounts_own_sender_wins(source: str | None, answers_to: str | None) -> None:
    """Where it has one."""
    message = replace(SMS, sender=Address(value="+447700900999"))
    more = {} if source is None else {"source": source}
    async with played_smpp() as smsc, bound(smpp_settings(smsc.port, **more)) as adapter:
        (outcome,) = await adapter.send([message])

    assert isinstance(outcome, Accepted)
    assert outcome.sender == answers_to


async def test_a_sender_that_no_smsc_has_is_refused_with_the_settings() -> None:
    """Before anything is sent."""
    with pytest.raises(BadValueError, match="source"):
        async with bound(smpp_settings(2775, source="twelve letters")):
            pass
