"""What every adapter promises about messages, asked of each with recorded replies."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest
import structlog

from tests.conformance.adapters.observed import observe, several
from tests.conformance.adapters.player import EXPECTED, HttpPlayer, Player
from tests.conformance.adapters.players import PLAYERS
from tests.conformance.adapters.questions import question
from tests.support import played_http as http
from tests.support.vendors import PRIVATE, KnownSecrets, opened
from tidings.contracts.adapters import Cancels
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater, Unlearned
from tidings.contracts.senders import as_shown
from tidings.router.adapters.registry import ADAPTERS, read_account


def test_every_adapter_is_played() -> None:
    """A new line in the registry needs its recorded replies."""
    assert set(PLAYERS) == set(ADAPTERS)


@question("Each reply has its outcome: accepted, refused, throttled, unavailable, hanging, garbage, closed")
async def test_each_reply_has_its_outcome(player: Player) -> None:
    """One message, one outcome, of the right kind."""
    found = {case: [type(outcome) for outcome in (await observe(player, case)).one] for case in EXPECTED}

    assert found == {case: [kind] for case, kind in EXPECTED.items()}


@question(
    "Only the vendor refuses: a proxy's page harms no message, and a gateway's leaves open what became of it"
)
async def test_only_the_vendor_refuses(player: Player) -> None:
    """Pages that are not in the vendor's words; whoever has only statuses is believed by them."""
    if not isinstance(player, HttpPlayer):
        pytest.skip("no proxy stands before this vendor: it is not asked over HTTP/1.1")
    gateways = dict.fromkeys(
        ("502 Bad Gateway", "504 Gateway Timeout", "520 Unknown", "524 Timeout"), Unlearned
    )
    pages: dict[str, type[Outcome]] = {**gateways, "402 Payment Required": TryLater}
    if player.has_words:
        strange = ("400 Bad Request", "403 Forbidden", "404 Not Found", "405 Method Not Allowed")
        pages |= dict.fromkeys(strange, TryLater)
    found = {}
    for status in pages:
        page = replace(
            player, replies={**player.replies, "page": http.answer(status, b"<html>not here</html>")}
        )
        async with page.play("page") as settings, opened(player.name, settings) as adapter:
            (outcome,) = await adapter.send([player.message])
        found[status] = type(outcome)
        assert getattr(outcome, "code", None) not in _noes(player), status

    assert found == pages


def _noes(player: Player) -> set[str]:
    """Codes that the status map reads as a no of the person's or the address's, whatever else was said."""
    return {
        seed.code
        for seed in ADAPTERS[player.name].statuses
        if seed.canonical in {"failed_perm", "rejected_by_recipient", "bounced", "complaint"}
    }


@question("A set has as many outcomes as messages, whatever the vendor does")
async def test_a_set_has_as_many_outcomes_as_messages(player: Player) -> None:
    """None is forgotten, and nothing is raised."""
    for case, kind in EXPECTED.items():
        outcomes = (await observe(player, case)).seven

        assert len(outcomes) == 7, case
        allowed = {kind, TryLater} if kind is Unlearned else {kind}
        assert {type(outcome) for outcome in outcomes} <= allowed, case


@question("No outcome and no log line holds an address, a word of the message or a secret")
async def test_nothing_private_comes_back(player: Player) -> None:
    """Also where the vendor quotes it."""
    for case in EXPECTED:
        seen = await observe(player, case)
        told = f"{seen.one!r} {seen.seven!r} {seen.checked!r} {seen.logs!r} {player.message!r}".lower()

        private = (*PRIVATE, player.message.to.lower().lstrip("+"))
        assert [word for word in private if word in told] == [], case


@question("Nothing to send is nothing sent")
async def test_nothing_to_send_is_nothing_sent(player: Player) -> None:
    """An empty set does not even connect."""
    async with player.play("unreachable") as settings, opened(player.name, settings) as adapter:
        assert list(await adapter.send([])) == []


@question("The vendor's own id is kept")
async def test_the_vendors_own_id_is_kept(player: Player) -> None:
    """An accepted message has the id under which the vendor knows it."""
    (outcome,) = (await observe(player, "accepted")).one

    assert isinstance(outcome, Accepted)
    assert outcome.provider_message_id == player.accepted_id


@question("A refusal has the vendor's code, and words")
async def test_a_refusal_says_why(player: Player) -> None:
    """Without the address that they quote."""
    (outcome,) = (await observe(player, "refused")).one

    assert isinstance(outcome, Refused)
    assert outcome.permanent
    assert outcome.code == player.refused_code
    assert len(outcome.reason) > len("refused")


@question("A vendor that asks to be left alone for a while is heard")
async def test_a_vendor_that_names_a_time_is_heard(player: Player) -> None:
    """`Retry-After` is passed on where the protocol has it."""
    (outcome,) = (await observe(player, "throttled")).one

    assert isinstance(outcome, TryLater)
    assert outcome.after == player.retry_after


@question("One bad message harms no other")
async def test_one_bad_message_harms_no_other(player: Player) -> None:
    """What can't be said to the vendor is refused by itself; the rest of the set goes out."""
    given = several(player, 2)
    async with player.play("accepted") as settings, opened(player.name, settings) as adapter:
        outcomes = await adapter.send([given[0], player.bad, given[1]])

    assert [type(outcome) for outcome in outcomes] == [Accepted, Refused, Accepted]


@question("A closed adapter sends nothing and raises nothing")
async def test_a_closed_adapter_gives_back(player: Player) -> None:
    """After `close`."""
    async with player.play("accepted") as settings, opened(player.name, settings) as adapter:
        await adapter.close()
        outcomes = await adapter.send([player.message])

    assert [type(outcome) for outcome in outcomes] == [TryLater]


@question("A cancelled call leaves it usable")
async def test_a_cancelled_call_leaves_the_adapter_usable(player: Player) -> None:
    """Who stops waiting stops only their own set."""
    async with player.play("accepted") as settings, opened(player.name, settings) as adapter:
        call = asyncio.ensure_future(adapter.send(several(player, 50)))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        outcomes = await adapter.send(several(player, 3))

    assert [type(outcome) for outcome in outcomes] == [Accepted] * 3


@question("Many callers share it")
async def test_many_callers_share_an_adapter(player: Player) -> None:
    """Sets that are sent at the same time each get their own outcomes."""
    async with player.play("accepted") as settings, opened(player.name, settings) as adapter:
        sets = await asyncio.gather(*(adapter.send(several(player, 5)) for _ in range(8)))

    assert all([type(outcome) for outcome in outcomes] == [Accepted] * 5 for outcomes in sets)


@question("Its longest call is known")
async def test_the_longest_call_is_known(player: Player) -> None:
    """Whoever holds a lease on the work can make it long enough."""
    async with player.play("accepted") as settings, opened(player.name, settings) as adapter:
        assert timedelta(0) < adapter.longest_send < timedelta(minutes=10)


@question("A message has the time that it is given, and then its answer is unlearned")
async def test_a_message_has_the_time_it_is_given(player: Player) -> None:
    """And not all of the account's."""
    async with player.take_turns("hangs") as (settings, asked), opened(player.name, settings) as adapter:
        async with asyncio.timeout(20):
            outcomes = await adapter.send([player.message], within=0.3)

    assert [type(outcome) for outcome in outcomes] == [Unlearned]
    assert asked() == 1


@question("Waiting for its turn costs a message no time")
async def test_waiting_for_ones_turn_costs_no_time(player: Player) -> None:
    """The set takes longer than each of its messages has."""
    async with player.take_turns("slow") as (settings, asked), opened(player.name, settings) as adapter:
        outcomes = await adapter.send(several(player, 8), within=0.6)

    assert [type(outcome) for outcome in outcomes] == [Accepted] * 8
    assert asked() == 8


@question("A set that is cut off keeps what was learned")
async def test_a_set_that_is_cut_off_keeps_what_was_learned(player: Player) -> None:
    """The answers that came; what was never begun can go again without a thought."""
    learned: list[Outcome] = [Unlearned(reason="nothing was told")] * 8
    turns = ["accepted"] * 3 + ["hangs"]
    # Closing waits for the one that hangs, so the vendor ends first.
    async with AsyncExitStack() as after_the_vendor, player.take_turns(*turns) as (settings, asked):
        adapter = await after_the_vendor.enter_async_context(opened(player.name, settings))
        call = asyncio.ensure_future(adapter.send(several(player, 8), learned=learned))
        async with asyncio.timeout(20):
            while asked() < 4:
                await asyncio.sleep(0.001)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        kept = list(learned)

    assert [type(outcome) for outcome in kept[:3]] == [Accepted] * 3
    assert isinstance(kept[3], Unlearned)
    # The fifth may have been announced behind the fourth.
    assert [outcome.code for outcome in kept[5:] if isinstance(outcome, TryLater)] == ["late"] * 3
    assert asked() <= 5
    assert learned == kept


@question("A check answers, and sends nothing")
async def test_a_check_answers_and_sends_nothing(player: Player) -> None:
    """Whatever the vendor does to it: an answer, or None where it can't be asked."""
    for case in EXPECTED:
        checked = (await observe(player, case)).checked

        assert checked is None or isinstance(checked, Accepted | Refused | TryLater), case


@question("It does what it says it can do")
async def test_it_says_what_it_can_do(player: Player) -> None:
    """Whether receipts come, whether messages can be called back: so that nobody has to try."""
    kind = ADAPTERS[player.name]
    async with player.play("accepted") as settings, opened(player.name, settings) as adapter:
        can = adapter.capabilities

        assert isinstance(adapter, Cancels) >= can.cancel
        assert adapter.name == kind.name
        assert adapter.channels == kind.channels
        fixed = set(msgspec.to_builtins(can)) - kind.by_settings
        assert {name: getattr(can, name) for name in fixed} == {
            name: getattr(kind.capabilities, name) for name in fixed
        }
        if (can.receipts or can.inbound) and not kind.listens:
            # Whoever waits for what nobody takes in, waits in vain.
            read = await read_account(player.name, settings, KnownSecrets())
            assert kind.callbacks is not None
            assert kind.callbacks.keys(read.settings) is not None


@question("Answers go to the sender that its settings name, or else to the message's")
async def test_answers_go_to_the_sender_that_is_asked_about(player: Player) -> None:
    """Who may send as it is decided before the vendor is called: by the same sender that people answer."""
    async with player.play("accepted") as settings:
        fixed = (await read_account(player.name, settings, KnownSecrets())).fixed_senders()
    (outcome,) = (await observe(player, "accepted")).one
    asked = fixed.get(player.message.channel, player.message.sender.value)

    assert isinstance(outcome, Accepted)
    assert outcome.sender is None or as_shown(outcome.sender) == as_shown(asked)


@question("It calls back only what the vendor says yes to, where it can call back at all")
async def test_calling_back_is_certain_or_not_done(player: Player) -> None:
    """One answer each, nothing raised, nothing private told."""
    for case in EXPECTED:
        with structlog.testing.capture_logs() as logs:
            async with player.play(case) as settings, opened(player.name, settings) as adapter:
                if not isinstance(adapter, Cancels) or not adapter.capabilities.cancel:
                    pytest.skip("the vendor takes no message back")
                async with asyncio.timeout(20):
                    answers = await adapter.cancel(["vendor-17", "vendor-18", "vendor/../19"])
                    nothing = await adapter.cancel([])
                await adapter.close()
                closed = await adapter.cancel(["vendor-17"])

        assert list(answers) == [case == "accepted"] * 3, case
        assert list(nothing) == []
        assert list(closed) == [False]
        assert [word for word in PRIVATE if word in f"{logs!r}".lower()] == []
