"""The SMPP adapter against an SMSC that others wrote: the npm package `smpp`."""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from tests.support.npm_smsc.running import needs_npm_smsc, npm_smsc
from tests.support.smpp import SMS, Ears, bound, smpp_settings, sms
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, Refused, TryLater, Unlearned
from tidings.router.adapters.smpp.adapter import SmppAdapter

pytestmark = needs_npm_smsc

COUNT = 1000


async def _send_as_the_router_does(
    adapter: SmppAdapter, messages: list[OutboundMessage]
) -> dict[str, Accepted | Unlearned]:
    """In sets, side by side; what may go later goes later, what is unlearned does not."""
    told: dict[str, Accepted | Unlearned] = {}

    async def send(some: list[OutboundMessage]) -> None:
        while some:
            outcomes = await adapter.send(some)
            again = []
            for message, outcome in zip(some, outcomes, strict=True):
                assert not isinstance(outcome, Refused)
                if isinstance(outcome, TryLater):
                    again.append(message)
                else:
                    assert message.message_id not in told
                    told[message.message_id] = outcome
            some = again
            await asyncio.sleep(0.02 if again else 0)

    await asyncio.gather(*(send(messages[i : i + 100]) for i in range(0, len(messages), 100)))
    return told


async def test_a_thousand_receipts_find_their_messages() -> None:
    """They come out of order, some before the answer that names the message; each is heard once, and once is enough."""
    ears = Ears()
    messages = sms(COUNT)

    async with npm_smsc() as smsc, bound(smpp_settings(smsc.port, binds=2, window=20), ears) as adapter:
        told = await _send_as_the_router_does(adapter, messages)
        await smsc.do("receipts")
        await ears.until(lambda e: len(e.events) >= COUNT)
        report = await smsc.do("report")

    accepted = [outcome for outcome in told.values() if isinstance(outcome, Accepted)]
    ids = {one.provider_message_id for one in accepted}
    assert len(accepted) == len(ids) == COUNT
    assert sorted(event.vendor_message_id for event in ears.events) == sorted(str(one) for one in ids)
    assert [event.vendor_message_id for event in ears.events] != [one["id"] for one in report["taken"]]
    by_id = {one["id"]: one for one in report["taken"]}
    wrong = [
        message.text
        for message in messages
        if isinstance(outcome := told[message.message_id], Accepted)
        and by_id[outcome.provider_message_id]["text"] != message.text
    ]
    assert wrong == []
    assert Counter(event.status for event in ears.events) == {"delivered": 900, "failed_perm": 100}
    assert report["delivered"] == [0] * COUNT
    # Sets, and not one by one.
    assert len(ears.readings) < COUNT / 2


async def test_a_link_that_is_cut_ten_times_loses_and_repeats_nothing() -> None:
    """Each message is taken once at most; those without an answer are unlearned, and all others accepted."""
    messages = sms(COUNT)

    async with npm_smsc() as smsc, bound(smpp_settings(smsc.port), Ears()) as adapter:
        await smsc.do("cut_every", count=90)
        told = await _send_as_the_router_does(adapter, messages)
        report = await smsc.do("report")

    assert len(told) == COUNT
    assert (report["cuts"], report["connections"]) == (10, 11)
    taken = Counter(one["text"] for one in report["taken"])
    assert max(taken.values()) == 1
    by_id = {one["id"]: one["text"] for one in report["taken"]}
    text_of = {message.message_id: message.text for message in messages}
    accepted = {key: one for key, one in told.items() if isinstance(one, Accepted)}
    assert {key: by_id[str(one.provider_message_id)] for key, one in accepted.items()} == {
        key: text_of[key] for key in accepted
    }
    # One at least for each cut, and never more than the window.
    assert 10 <= COUNT - len(accepted) <= 100


async def test_long_texts_and_foreign_letters_are_read_as_they_were_written() -> None:
    """By a codec that is not ours: extension characters, two alphabets, parts that say which they are."""
    texts = ["plain @£$ {[€]}", "привет 🍵", "x" * 160, "long €" * 60]
    messages = [
        replace(SMS, message_id=f"ntf_{i}", to=f"+44770090012{i}", text=text) for i, text in enumerate(texts)
    ]

    async with npm_smsc() as smsc, bound(smpp_settings(smsc.port, window=1), Ears()) as adapter:
        outcomes: list[Outcome] = list(await adapter.send(messages))
        report = await smsc.do("report")

    assert [type(outcome) for outcome in outcomes] == [Accepted] * 4
    whole: dict[str, str] = {}
    for one in report["taken"]:
        whole[one["to"]] = whole.get(one["to"], "") + one["text"]
    assert [whole[message.to[1:]] for message in messages] == texts
    parts = [one for one in report["taken"] if one["to"].endswith("3")]
    assert [(one["udh"][-2:], one["receipt"]) for one in parts] == [
        ([3, 1], False),
        ([3, 2], False),
        ([3, 3], True),
    ]
    last = outcomes[3]
    assert isinstance(last, Accepted)
    assert last.provider_message_id == parts[-1]["id"]
    assert last.sender == "12345"


@pytest.mark.parametrize("parts", [1, 4])
async def test_what_people_write_is_heard(parts: int) -> None:
    """Also in parts that come in any order, over either of two binds."""
    ears = Ears()
    text = "привет, I would like {tea} please. " * 4

    async with npm_smsc() as smsc, bound(smpp_settings(smsc.port, binds=2), ears) as adapter:
        await adapter.send([SMS])
        await smsc.do(
            "write",
            **{"from": "447700900123", "to": "447700900999"},
            text=text[:60] if parts == 1 else text,
            parts=parts,
        )
        report = await smsc.do("report")

    (found,) = ears.inbound
    assert (found.sender, found.to, found.channel) == ("+447700900123", "+447700900999", "sms")
    assert found.text == (text[:60] if parts == 1 else text)
    assert report["delivered"] == [0] * parts


async def test_a_wrong_password_is_told_by_a_check() -> None:
    """And makes nothing of messages but a later."""
    settings = smpp_settings(0, password="wrong")

    async with npm_smsc() as smsc, bound({**settings, "port": smsc.port}) as adapter:
        checked = await adapter.check()
        outcomes = await adapter.send([SMS])

    assert isinstance(checked, Refused)
    assert checked.code == "ESME_RINVPASWD"
    assert [(type(one), getattr(one, "code", None)) for one in outcomes] == [(TryLater, "ESME_RINVPASWD")]
