"""What the SMSC says by itself: kept before it is answered, told again where it was not, each thing once."""

import asyncio
import struct

from tests.support.played_smpp import Heard, PlayedSmpp, deliver, played_smpp
from tests.support.smpp import SMS, Ears, bound, smpp_settings
from tidings.contracts.callback_forms import ParsedCallback

RECEIPT = 0x04


def _receipt(message_id: str, *, sequence: int, stat: str = "DELIVRD") -> bytes:
    text = f"id:{message_id} sub:001 dlvrd:001 submit date:2611151200 done date:2611151201 stat:{stat} err:000 text:"
    return deliver(text.encode(), sequence=sequence, esm_class=RECEIPT)


def _part(text: bytes, number: int, total: int, *, sequence: int) -> bytes:
    return deliver(bytes((5, 0, 3, 9, total, number)) + text, sequence=sequence, esm_class=0x40)


async def _answers(smsc: PlayedSmpp, count: int) -> dict[int, int]:
    heard: list[Heard] = await smsc.until("deliver_sm_resp", count)
    return {one.sequence: one.status for one in heard}


def _down(_: ParsedCallback) -> None:
    raise ConnectionError("there is no database")


async def test_what_comes_together_is_told_together() -> None:
    """Receipts and words, in one call, and then every one is answered."""
    ears = Ears()
    async with played_smpp() as smsc, bound(smpp_settings(smsc.port), ears):
        await smsc.until("bind_transceiver")
        smsc.say(b"".join(_receipt(f"m-{i}", sequence=i) for i in range(1, 8)) + deliver(b"hi", sequence=8))
        answers = await _answers(smsc, 8)

    assert answers == dict.fromkeys(range(1, 9), 0)
    assert [(len(reading.events), len(reading.inbound)) for reading in ears.readings] == [(7, 1)]
    assert {event.vendor_message_id for event in ears.events} == {f"m-{i}" for i in range(1, 8)}


async def test_what_can_not_be_kept_is_asked_for_again() -> None:
    """With the same id, so that who kept it after all knows it."""
    ears = Ears()
    tried: list[str] = []

    def fail(reading: ParsedCallback) -> None:
        tried.extend(one.vendor_message_id for one in reading.inbound)
        raise ConnectionError("there is no database")

    ears.refuse = fail
    async with played_smpp() as smsc, bound(smpp_settings(smsc.port), ears):
        await smsc.until("bind_transceiver")
        smsc.say(deliver(b"yes", sequence=1))
        first = await _answers(smsc, 1)
        ears.refuse = lambda _: None
        smsc.say(deliver(b"yes", sequence=2))
        second = await _answers(smsc, 2)

    assert (first[1], second[2]) == (0x64, 0)
    assert [one.vendor_message_id for one in ears.inbound] == tried


async def test_one_thing_that_can_not_be_kept_holds_up_no_other() -> None:
    """After a failure each is tried by itself."""
    ears = Ears()

    def poison(reading: ParsedCallback) -> None:
        if any(event.vendor_message_id == "bad" for event in reading.events):
            raise ValueError("can't be kept")

    ears.refuse = poison
    together = b"".join(_receipt(name, sequence=i) for i, name in enumerate(["a", "bad", "c"], 1))
    async with played_smpp() as smsc, bound(smpp_settings(smsc.port), ears):
        await smsc.until("bind_transceiver")
        smsc.say(together)
        await _answers(smsc, 3)
        smsc.say(together)
        heard = await smsc.until("deliver_sm_resp", 6)

    assert [one.status for one in heard] == [0x64, 0x64, 0x64, 0, 0x64, 0]
    assert [event.vendor_message_id for event in ears.events] == ["a", "c"]


async def test_the_same_words_twice_are_two_messages() -> None:
    """A person may well say yes and yes; one that is told again over a new link is the one before."""
    ears = Ears()
    async with played_smpp() as smsc, bound(smpp_settings(smsc.port), ears):
        await smsc.until("bind_transceiver")
        smsc.say(deliver(b"yes", sequence=1))
        await _answers(smsc, 1)
        await asyncio.sleep(0.01)
        smsc.say(deliver(b"yes", sequence=2))
        await _answers(smsc, 2)
        smsc.cut()
        await smsc.until("bind_transceiver", 2)
        smsc.say(deliver(b"yes", sequence=3))
        await _answers(smsc, 3)

    first, second, third = (one.vendor_message_id for one in ears.inbound)
    assert first != second
    assert second == third


async def test_an_smsc_that_waits_for_each_answer_gets_a_long_message_through() -> None:
    """A part is answered before the others are there, when they are slow; the whole is told once."""
    ears = Ears()
    async with played_smpp() as smsc, bound(smpp_settings(smsc.port, part_seconds=0.02), ears):
        await smsc.until("bind_transceiver")
        for sequence, (text, number) in enumerate([(b"second", 2), (b"first ", 1)], 1):
            smsc.say(_part(text, number, 2, sequence=sequence))
            await _answers(smsc, sequence)

    assert [one.text for one in ears.inbound] == ["first second"]


async def test_a_part_whose_answer_was_lost_is_not_told_again() -> None:
    """The whole is kept; its last part comes once more over the next link, and is only answered."""
    ears = Ears()
    last = _part(b"two", 2, 2, sequence=2)
    async with played_smpp() as smsc, bound(smpp_settings(smsc.port, assembly_seconds=0.2), ears):
        await smsc.until("bind_transceiver")
        smsc.say(_part(b"one ", 1, 2, sequence=1) + last)
        await _answers(smsc, 2)
        smsc.cut()
        await smsc.until("bind_transceiver", 2)
        smsc.say(last)
        await smsc.until("deliver_sm_resp", 3)
        await asyncio.sleep(0.25)

    assert [one.text for one in ears.inbound] == ["one two"]


async def test_half_of_what_somebody_wrote_is_better_than_nothing() -> None:
    """The missing part leaves a gap; a failure to keep it is tried again, because the SMSC will not send it again."""
    ears = Ears()
    ears.refuse = _down
    settings = {"part_seconds": 0.01, "assembly_seconds": 0.05}
    async with played_smpp() as smsc, bound(smpp_settings(smsc.port, **settings), ears):
        await smsc.until("bind_transceiver")
        smsc.say(_part(b"one", 1, 3, sequence=1) + _part(b"three", 3, 3, sequence=2))
        await _answers(smsc, 2)
        await asyncio.sleep(0.1)
        ears.refuse = lambda _: None
        await ears.until(lambda e: len(e.inbound) == 1)

    assert [one.text for one in ears.inbound] == ["one … three"]


async def test_parts_that_were_answered_are_told_when_we_end() -> None:
    """Those that were not come again, to somebody else."""
    ears = Ears()
    async with played_smpp() as smsc, bound(smpp_settings(smsc.port, part_seconds=0.01), ears) as adapter:
        await smsc.until("bind_transceiver")
        smsc.say(_part(b"one", 1, 2, sequence=1))
        await _answers(smsc, 1)
        await adapter.close()

    assert [one.text for one in ears.inbound] == ["one"]


async def test_nobody_who_sends_only_takes_a_receipt() -> None:
    """Where nobody listens, the SMSC is asked to tell somebody else."""
    async with played_smpp() as smsc, bound(smpp_settings(smsc.port)) as adapter:
        await adapter.send([SMS])
        smsc.say(_receipt("m-1", sequence=1))
        answers = await _answers(smsc, 1)

    assert answers == {1: 0x64}


#: A large operator's receipts, which name no message (devel@kannel.org, "new DLR format").
_BY_COMMAS = b"00,0210021543,0210021500,,447887123456,10110200000000,we2345678i9o03er45ty67u"


async def test_what_nobody_can_read_is_kept_as_it_came() -> None:
    """And answered then: a receipt that names no message well, one that is no PDU with a no for good."""
    ears = Ears()
    truncated = struct.pack(">I", 40) + deliver(b"hello", sequence=1)[4:40]
    nameless = deliver(_BY_COMMAS, sequence=2, esm_class=RECEIPT)
    async with played_smpp() as smsc, bound(smpp_settings(smsc.port), ears):
        await smsc.until("bind_transceiver")
        smsc.say(truncated + nameless)
        answers = await _answers(smsc, 2)

    assert answers == {1: 0x65, 2: 0}
    assert [body for reading in ears.readings for body in reading.unread] == [truncated, nameless]
    assert not ears.events
    assert not ears.inbound


async def test_what_nobody_can_read_is_asked_for_again_where_it_can_not_be_kept() -> None:
    ears = Ears()
    ears.refuse = _down
    nameless = deliver(_BY_COMMAS, sequence=1, esm_class=RECEIPT)
    async with played_smpp() as smsc, bound(smpp_settings(smsc.port), ears):
        await smsc.until("bind_transceiver")
        smsc.say(nameless)
        answers = await _answers(smsc, 1)

    assert answers == {1: 0x64}


async def test_a_pair_hears_over_its_receiver() -> None:
    """Two binds for two ways."""
    ears = Ears()
    async with played_smpp() as smsc, bound(smpp_settings(smsc.port, bind="pair"), ears) as adapter:
        await smsc.until("bind_receiver")
        outcomes = await adapter.send([SMS])
        smsc.say(_receipt("m-1", sequence=1))
        await ears.until(lambda e: bool(e.events))

    assert len(outcomes) == 1
    assert {one.name for one in smsc.heard} >= {"bind_transmitter", "bind_receiver", "submit_sm"}
