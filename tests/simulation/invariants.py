"""What holds for every execution, whatever vendors and workers do: each a sentence with its checker.

None of it asks the ladder: what a receipt amounts to, or whether a step was due, is said here once more in other words.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tests.simulation.seen import Call, Receipt, Seen, Told
from tidings.router.state_machine.apply_clock import is_within

Checker = Callable[[Seen], Iterator[str]]

_RANKS: Final = {"accepted": 1, "sent": 2, "delivered": 3, "delivered_read": 4, "opened": 4, "clicked": 4}
_WANTED: Final = {"accepted": 1, "sent": 2, "delivered": 3, "read": 4}
_EVIDENCE: Final = {1: "accepted", 2: "sent", 3: "delivered", 4: "read"}
_ARRIVED: Final = 3
_OF_PERSON: Final = frozenset({"rejected_by_recipient", "bounced"})
_NOT_TAKEN: Final = frozenset({"failed_temp", "failed_perm", "rejected_by_provider", "step_skipped"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A sentence that does not hold."""

    sentence: str
    detail: str

    def __str__(self) -> str:
        return f"{self.sentence} But: {self.detail}."


INVARIANTS: Final[list[tuple[str, Checker]]] = []


def violations(seen: Seen) -> list[Violation]:
    """Everything that does not hold for an execution."""
    return [
        Violation(sentence=sentence, detail=detail)
        for sentence, checker in INVARIANTS
        for detail in checker(seen)
    ]


def _says(sentence: str) -> Callable[[Checker], Checker]:
    def named(checker: Checker) -> Checker:
        INVARIANTS.append((sentence, checker))
        return checker

    return named


# --- ends


@_says("Every execution that was accepted ends.")
def every_one_ends(seen: Seen) -> Iterator[str]:
    if seen.unended is not None:
        yield seen.unended


@_says("An execution has one outcome, and nothing is written about it afterwards.")
def one_outcome(seen: Seen) -> Iterator[str]:
    if len(seen.outcomes) > 1:
        yield f"{len(seen.outcomes)} were told: {', '.join(one.result for one in seen.outcomes)}"
    if not seen.outcomes and seen.unended is None:
        yield "it is over, and none was told"
    if seen.written_after_end:
        yield f"its row was written {seen.written_after_end} times after its end"


@_says(
    "A delivery that is known is the outcome, and a delivery that is announced rests on what a vendor said."
)
def delivered_is_told(seen: Seen) -> Iterator[str]:
    if not seen.outcomes:
        return
    outcome = seen.outcomes[0]
    steps = {one.id: one.step for one in seen.told}
    accepted = [
        one
        for one in seen.told
        if one.status == "accepted"
        and (one.id in seen.without_receipts or seen.steps[one.step - 1].success == "accepted")
    ]
    ranks = [
        (_RANKS.get(one.status, 0), steps[one.attempt_id])
        for one in seen.receipts
        if one.live and one.attempt_id in steps
    ]
    reached = [rank for rank, step in ranks if rank >= _WANTED[seen.steps[step - 1].success]]
    arrived = [rank for rank, _ in ranks if rank >= _ARRIVED]
    if outcome.result != "DELIVERED":
        if accepted or reached:
            yield f"a step has reached what it had to, and the outcome is {outcome.result}"
        elif arrived and not any(ask.answer == "ends" for ask in seen.asks):
            yield f"the message has arrived, and the outcome is {outcome.result}"
        return
    channels: list[tuple[str, str]] = [
        (_EVIDENCE[rank], seen.steps[step - 1].channel)
        for rank, step in ranks
        if rank >= min(_ARRIVED, _WANTED[seen.steps[step - 1].success])
    ]
    channels += [("accepted", one.channel) for one in accepted]
    if (outcome.evidence, outcome.final_channel) not in channels:
        yield f"nobody has said `{outcome.evidence}` over {outcome.final_channel}"


@_says("Receipts that come late change no outcome.")
def late_receipts_change_nothing(seen: Seen) -> Iterator[str]:
    if not seen.outcomes:
        return
    first = seen.outcomes[0]
    late = [one for one in seen.receipts if not one.live and one.stamp > first.stamp]
    told = [one for one in seen.told if one.stamp > first.stamp]
    if late and told:
        yield f"after {late[0].status} came, {told[0].status} of step {told[0].step} was told"


# --- money


@_says("What is reserved plus what is spent never passes the cap.")
def cap_holds(seen: Seen) -> Iterator[str]:
    for one in seen.writes:
        if one.reserved < 0 or one.spent < 0:
            yield f"reserved {one.reserved} and spent {one.spent} are less than nothing"
            return
        if seen.cap is not None and one.reserved + one.spent > seen.cap:
            yield f"reserved {one.reserved} and spent {one.spent} of {seen.cap}"
            return


@_says("What was reserved is settled in the end, and what was spent is what the calls cost.")
def all_is_settled(seen: Seen) -> Iterator[str]:
    for one in seen.writes:
        if one.reserved != one.held:
            yield f"{one.reserved} were reserved while calls under way held {one.held}"
            return
    if not seen.outcomes:
        return
    if seen.reserved_at_end:
        yield f"{seen.reserved_at_end} are still reserved"
    costs = sum(one.cost for one in seen.told)
    if seen.spent_at_end != costs:
        yield f"{seen.spent_at_end} are spent, and the calls cost {costs}"


@_says("A vendor that may have taken a message is paid, and no other.")
def who_takes_is_paid(seen: Seen) -> Iterator[str]:
    for one in seen.told:
        if one.status in _NOT_TAKEN and one.cost:
            yield f"step {one.step} was not taken ({one.status}) and cost {one.cost}"
        elif one.status not in _NOT_TAKEN and one.cost != seen.held.get(one.id, one.cost):
            yield f"{seen.held[one.id]} were held for step {one.step} ({one.status}), and it cost {one.cost}"


# --- calls


@_says("No step is called more often than its budget allows.")
def budgets_hold(seen: Seen) -> Iterator[str]:
    for step, made in Counter(call.step for call in seen.calls).items():
        if made > seen.budgets[step - 1]:
            yield f"step {step} was called {made} times, and {seen.budgets[step - 1]} are allowed"


@_says("Nothing is sent after a delivery that was known.")
def nothing_after_a_known_delivery(seen: Seen) -> Iterator[str]:
    steps = {one.id: one.step for one in seen.told}
    for receipt in seen.receipts:
        step = steps.get(receipt.attempt_id)
        if step is None or _RANKS.get(receipt.status, 0) < _WANTED[seen.steps[step - 1].success]:
            continue
        for call in seen.calls:
            if receipt.stamp < call.noted:
                yield f"step {call.step} was called although step {step} was known as {receipt.status}"
                return


@_says("Nothing is prepared or sent after the clock of the message.")
def nothing_after_the_message_clock(seen: Seen) -> Iterator[str]:
    for call in seen.calls:
        if call.at >= seen.expires_at:
            yield f"step {call.step} was called {call.at - seen.expires_at} after it"
    for ask in seen.asks:
        # Whoever prepares the hand-off itself does not look at this clock.
        if ask.loaded and ask.at >= seen.expires_at:
            yield f"step {ask.step} was asked for {ask.at - seen.expires_at} after it"


@_says(
    "No recipient is written to whom a gate would refuse at that moment: each call was asked for, and let through."
)
def gates_hold(seen: Seen) -> Iterator[str]:
    for call, asked in _asked(seen):
        if asked is None:
            yield f"step {call.step} was called by {call.worker}, and no gate had let this call through"


@_says("No step is called after its own clock, which begins with its first call.")
def step_clocks_hold(seen: Seen) -> Iterator[str]:
    begun: dict[int, Call] = {}
    for call, asked in _asked(seen):
        first = begun.setdefault(call.step, call)
        waited = any(
            ask.step == call.step and ask.answer == "wait" and first.noted < ask.stamp < call.noted
            for ask in seen.asks
        )
        if waited:
            begun[call.step] = call
        elif asked is not None and asked >= first.at + seen.clocks[call.step - 1]:
            yield f"step {call.step} was called for {asked - first.at} after its first call"


@_says(
    "Steps are taken in their order, unless they are taken side by side; one that was only passed over gets its turn when "
    "no other is left."
)
def steps_keep_their_order(seen: Seen) -> Iterator[str]:
    if seen.strategy == "PARALLEL":
        return
    calls = sorted(seen.calls, key=lambda call: call.noted)
    again = [call for call in calls if _was_passed_over(seen, call)]
    steps = [call.step for call in calls if call not in again]
    if steps != sorted(steps):
        yield f"they were called in the order {steps}"
    if again and calls[-len(again) :] != again:
        yield f"step {again[0].step} got its second chance before the others were through"


def _was_passed_over(seen: Seen, call: Call) -> bool:
    return any(
        one.step == call.step
        and one.status == "step_skipped"
        and one.reason in {"circuit_open", "vendor_limit", "no_account"}
        and one.stamp < call.noted
        for one in seen.told
    )


@_says("No step is taken outside its hours, nor one that was barred from the start.")
def conditions_hold(seen: Seen) -> Iterator[str]:
    for call, asked in _asked(seen):
        step = seen.steps[call.step - 1]
        if step.barred is not None or not step.vendors:
            yield f"step {call.step} was called although it was barred"
        elif step.hours is not None and asked is not None and not is_within(step.hours, asked):
            yield f"step {call.step} was called for at {asked.isoformat()}"


@_says("An address that was refused is not written to over the same channel again.")
def refused_addresses_are_left_alone(seen: Seen) -> Iterator[str]:
    refused = [
        (one.channel, one.stamp)
        for one in seen.told
        if one.status == "failed_perm" and (one.reason or "").startswith("5.1")
    ]
    refused += _refused_by_person(seen)
    for channel, stamp in refused:
        for call in seen.calls:
            if call.channel == channel and stamp < call.noted:
                yield f"step {call.step} was called over {channel}"
                return


@_says("A vendor that says no for good is not asked again for the same step.")
def refusals_are_heard(seen: Seen) -> Iterator[str]:
    for one in seen.told:
        if one.status != "rejected_by_provider" or len(seen.steps[one.step - 1].vendors) > 1:
            continue
        for call in seen.calls:
            if call.step == one.step and one.stamp < call.noted:
                yield f"{call.vendor} was called again for step {call.step}"
                return


@_says("A vendor that says when to ask again is not asked before.")
def waits_are_waited(seen: Seen) -> Iterator[str]:
    for step, until, stamp in seen.waits:
        for ask in seen.asks:
            if ask.step == step and stamp < ask.loaded and ask.at < until:
                yield f"step {step} was asked for {until - ask.at} too early"
                return


# --- what is told


@_says("Every call is announced exactly once, and nothing that was not called.")
def calls_are_told(seen: Seen) -> Iterator[str]:
    told = Counter(one.id for one in seen.told if one.vendor is not None)
    twice = [id_ for id_, times in told.items() if times > 1]
    if twice:
        yield f"{len(twice)} were told more than once"
    if not seen.outcomes:
        return
    if missing := set(seen.noted) - told.keys() - seen.not_made:
        yield f"{len(missing)} calls were never told"
    if more := told.keys() - set(seen.noted):
        yield f"{len(more)} were told and never noted"


@_says("A step that was skipped is announced with its reason, and none is left out.")
def skips_are_told(seen: Seen) -> Iterator[str]:
    told = {(one.step, one.reason) for one in seen.told if one.status == "step_skipped"}
    for step, reason in seen.skips:
        if (step, reason) not in told:
            yield f"step {step} was skipped for {reason}"
    if not seen.outcomes:
        return
    outcome = seen.outcomes[0]
    ended = outcome.result == "DELIVERED" or any(ask.answer == "ends" for ask in seen.asks)
    if not ended and outcome.at < seen.expires_at:
        touched = {one.step for one in seen.told} | {ask.step for ask in seen.asks}
        if left_out := [i for i in range(1, len(seen.steps) + 1) if i not in touched]:
            yield f"steps {left_out} were passed over"


@_says("What a message teaches is learned once.")
def learned_once(seen: Seen) -> Iterator[str]:
    channels = {one.id: one.channel for one in seen.told}
    heard = [r for r in seen.receipts if r.attempt_id in channels and (r.live or seen.learned_late)]
    yes = {r.attempt_id for r in heard if _rank(r) >= _ARRIVED}
    no = {r.attempt_id for r in heard if r.status in _OF_PERSON}
    late = seen.given_up & channels.keys()
    for (channel, arrived), times in Counter(seen.learned).items():
        sources = list(yes) if arrived else [*no, *late]
        most = sum(channels[source] == channel for source in sources)
        if times > most:
            yield f"{channel} was learned {times} times as {'reached' if arrived else 'not reached'}, from {most}"


@_says("A message that is not needed any more is cancelled.")
def losers_are_called_off(seen: Seen) -> Iterator[str]:
    if seen.needless is None or not seen.outcomes:
        return
    heard = {one.attempt_id for one in seen.receipts if one.live}
    last: dict[int, Told] = {one.step: one for one in seen.told}
    open_ = {
        one.id
        for one in last.values()
        if one.status == "accepted"
        and one.id not in heard | seen.given_up | seen.without_receipts
        and seen.steps[one.step - 1].success != "accepted"
    }
    if open_ != seen.needless:
        yield f"{len(open_)} were still awaited, {len(seen.needless)} were called off"


# --- small things


def _asked(seen: Seen) -> Iterator[tuple[Call, datetime | None]]:
    """Each call in the order in which they were noted, with the moment at which it was let through, if it was."""
    free = [ask for ask in seen.asks if ask.answer == "ready"]
    for call in sorted(seen.calls, key=lambda call: call.noted):
        own = [
            ask
            for ask in free
            if ask.step == call.step and ask.worker == call.worker and ask.stamp <= call.noted
        ]
        if own:
            free.remove(own[-1])
        yield call, own[-1].at if own else None


def _known(seen: Seen) -> list[Receipt]:
    known = {one.id for one in seen.told}
    return [one for one in seen.receipts if one.live and one.attempt_id in known]


def _rank(receipt: Receipt) -> int:
    return _RANKS.get(receipt.status, 0)


def _refused_by_person(seen: Seen) -> list[tuple[str, int]]:
    """Channels that the person's side has refused, where nothing that arrived contradicts it."""
    channels = {one.id: one.channel for one in seen.told}
    found: list[tuple[str, int]] = []
    for attempt_id in {one.attempt_id for one in _known(seen)}:
        said = [one for one in _known(seen) if one.attempt_id == attempt_id]
        lost = next((one for one in said if one.status in _OF_PERSON), None)
        if lost is not None and all(_rank(one) < _ARRIVED for one in said):
            found.append((channels[attempt_id], lost.stamp))
    return found
