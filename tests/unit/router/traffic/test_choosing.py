"""Who is called: circuits, weights, those not tried yet, and the few probes of a circuit that is tried again."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.clock import ManualClock
from tests.unit.router.traffic.boards import NoLimits, account, circuit, traffic, weights
from tidings.contracts.adapters import OUR_CODES
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import TenantId
from tidings.router.accounts.model import StoredAccount
from tidings.router.traffic.circuit import CircuitState, Counts, Override
from tidings.router.traffic.evaluation import circuit_changes
from tidings.router.traffic.model import ChosenVendor, NoVendorAvailable
from tidings.router.traffic.sums import AnswerCounts, AnswerTotals
from tidings.router.traffic.tally import LATE
from tidings.router.traffic.vendor_selection import VendorSelection
from tidings.router.traffic.weights import WeightShift

TENANT = TenantId("tnt_01JCQ8ZK6T9Y4M2V7N5B3D1F0G")
A, B = account("http_a"), account("http_b")
BOTH = {"http_a": A, "http_b": B}


def choose(
    board: VendorSelection,
    *vendors: str,
    to: str = "+93700000001",
    tried: tuple[str, ...] = (),
    random_unit: float = 0.0,
    accounts: dict[str, StoredAccount] = BOTH,
) -> ChosenVendor | NoVendorAvailable:
    return board.choose(TENANT, "sms", vendors, accounts, to=to, tried=tried, random_unit=random_unit)


def test_the_only_one_is_called() -> None:
    assert choose(traffic(), "http_a") == ChosenVendor("http_a", A.id, "only")
    assert choose(traffic(), "http_a", accounts={}) == ChosenVendor("http_a", None, "only")


def test_of_several_without_weights_the_first_then_those_not_tried_yet() -> None:
    board = traffic()

    assert choose(board, "http_a", "http_b") == ChosenVendor("http_a", A.id, "first")
    assert choose(board, "http_a", "http_b", tried=("http_a",)) == ChosenVendor(
        "http_b", B.id, "not tried yet"
    )
    assert choose(board, "http_a", "http_b", tried=("http_a", "http_b")) == ChosenVendor(
        "http_a", A.id, "first"
    )
    assert choose(board, "http_z", "http_b") == ChosenVendor("http_b", B.id, "only")


def test_by_weight_where_there_are_weights() -> None:
    board = traffic()
    board.learn_weights([weights(TENANT, home={"http_a": 70, "http_b": 30})])

    assert choose(board, "http_a", "http_b", random_unit=0.69) == ChosenVendor("http_a", A.id, "weight 70:30")
    assert choose(board, "http_a", "http_b", random_unit=0.7) == ChosenVendor("http_b", B.id, "weight 70:30")
    assert choose(board, "http_a", "http_b", random_unit=0.999999) == ChosenVendor(
        "http_b", B.id, "weight 70:30"
    )


def test_weights_of_a_country_and_of_the_platform() -> None:
    board = traffic()
    board.learn_weights(
        [
            weights(
                None,
                home={"http_a": 100, "http_b": 0},
                by_prefix={"+93": {"http_a": 0, "http_b": 100}},
            )
        ]
    )

    assert board.has_weights(TENANT, "sms")
    assert not board.has_weights(TENANT, "voice")
    afghan = choose(board, "http_a", "http_b", to="+93700000001", random_unit=0.5)
    german = choose(board, "http_a", "http_b", to="+4915100000001", random_unit=0.5)

    assert isinstance(afghan, ChosenVendor)
    assert isinstance(german, ChosenVendor)
    assert (afghan.vendor, german.vendor) == ("http_b", "http_a")


def test_points_that_are_away_from_home_count_and_older_news_does_not() -> None:
    board = traffic()
    clock = ManualClock()
    away = WeightShift(points={"http_a": 0, "http_b": 100}, moved_at=clock.now(), sick_at=clock.now())
    board.learn_weights([weights(TENANT, home={"http_a": 70, "http_b": 30}, shifts={"+93": away}, version=2)])
    board.learn_weights([weights(TENANT, home={"http_a": 70, "http_b": 30}, version=1)])

    assert choose(board, "http_a", "http_b", random_unit=0.1) == ChosenVendor("http_b", B.id, "weight 0:100")


@given(st.floats(0, 1, exclude_max=True), st.integers(0, 100))
def test_nobody_without_points_is_called_while_somebody_has_some(random_unit: float, many: int) -> None:
    board = traffic()
    board.learn_weights([weights(TENANT, home={"http_a": many, "http_b": 100 - many})])

    chosen = choose(board, "http_a", "http_b", random_unit=random_unit)

    assert isinstance(chosen, ChosenVendor)
    points = {"http_a": many, "http_b": 100 - many}
    assert points[chosen.vendor] > 0


def test_shares_come_out_as_the_weights_say() -> None:
    board = traffic()
    board.learn_weights([weights(TENANT, home={"http_a": 70, "http_b": 30})])

    chosen = [choose(board, "http_a", "http_b", random_unit=n / 1000) for n in range(1000)]

    assert Counter(c.vendor for c in chosen if isinstance(c, ChosenVendor)) == {"http_a": 700, "http_b": 300}


def test_an_open_circuit_is_passed_over_and_alone_it_blocks() -> None:
    clock = ManualClock()
    board = traffic(clock)
    until = clock.now() + timedelta(seconds=30)
    board.learn_circuits([circuit(A, "OPEN", version=1, until=until)])

    assert choose(board, "http_a", "http_b") == ChosenVendor("http_b", B.id, "circuit of http_a open")
    assert choose(board, "http_a") == NoVendorAvailable("circuit_open", until)
    # Better one that was tried than nobody.
    assert choose(board, "http_a", "http_b", tried=("http_b",)) == ChosenVendor(
        "http_b", B.id, "circuit of http_a open"
    )


def test_an_account_that_is_off_is_passed_over_and_alone_it_is_waited_for() -> None:
    clock = ManualClock()
    board = traffic(clock)
    off = {"http_a": replace(A, active=False), "http_b": B}
    until = clock.now() + board.settings.ask_again

    assert choose(board, "http_a", "http_b", accounts=off) == ChosenVendor(
        "http_b", B.id, "account of http_a off"
    )
    assert choose(board, "http_a", accounts=off) == NoVendorAvailable("account_off", until)
    # What an open circuit waits for comes of itself, what is off may never.
    board.learn_circuits([circuit(B, "OPEN", version=1, until=clock.now() + timedelta(seconds=30))])
    assert choose(board, "http_a", "http_b", accounts=off) == NoVendorAvailable(
        "circuit_open", clock.now() + timedelta(seconds=30)
    )


def test_with_all_open_the_soonest_is_waited_for() -> None:
    clock = ManualClock()
    board = traffic(clock)
    sooner, later = clock.now() + timedelta(seconds=30), clock.now() + timedelta(seconds=90)
    board.learn_circuits(
        [circuit(A, "OPEN", version=1, until=later), circuit(B, "OPEN", version=1, until=sooner)]
    )

    assert choose(board, "http_a", "http_b") == NoVendorAvailable("circuit_open", sooner)


def test_those_who_wait_come_back_over_some_time() -> None:
    clock = ManualClock()
    board = traffic(clock)
    until = clock.now() + timedelta(seconds=30)
    board.learn_circuits([circuit(A, "OPEN", version=1, until=until)])

    blocked = [choose(board, "http_a", random_unit=random_unit / 10) for random_unit in range(10)]

    times = [one.until for one in blocked if isinstance(one, NoVendorAvailable)]
    assert (len(set(times)), min(times)) == (10, until)
    assert max(times) < until + board.settings.spread


async def test_one_that_may_be_tried_again_is_noted_as_wanted() -> None:
    clock = ManualClock()
    board = traffic(clock)
    board.learn_circuits([circuit(A, "OPEN", version=1, until=clock.now() + timedelta(seconds=30))])

    choose(board, "http_a")
    assert not board.wanted

    await clock.advance(timedelta(seconds=30))
    blocked = choose(board, "http_a")

    assert board.wanted == {A.id}
    board.learn_circuits([circuit(A, "HALF_OPEN", version=2, prober="another")])
    assert not board.wanted
    assert blocked == NoVendorAvailable("circuit_open", clock.now() + timedelta(seconds=1))


def test_one_that_a_person_holds_open_is_asked_about_again_and_never_wanted() -> None:
    clock = ManualClock()
    board = traffic(clock)
    held = Override(state="OPEN", until=None, reason="maintenance")
    board.learn_circuits([circuit(A, "OPEN", version=1, until=None, override=held)])

    assert choose(board, "http_a") == NoVendorAvailable("circuit_open", clock.now() + timedelta(seconds=15))
    assert not board.wanted


def test_one_that_is_held_for_hours_is_asked_about_soon() -> None:
    """The person may let go of it before: who waits must not sleep through that."""
    clock = ManualClock()
    board = traffic(clock)
    until = clock.now() + timedelta(hours=2)
    held = Override(state="OPEN", until=until, reason="maintenance")
    board.learn_circuits([circuit(A, "OPEN", version=1, until=until, override=held)])

    blocked = choose(board, "http_a")
    assert isinstance(blocked, NoVendorAvailable)
    assert blocked.until <= clock.now() + board.settings.ask_again + board.settings.spread


@given(st.lists(st.booleans(), max_size=60))
def test_a_half_open_circuit_lets_no_more_than_its_probes_through(asks: list[bool]) -> None:
    """Whoever asks, with or without another vendor to go to, and however often the news is heard."""
    board = traffic(name="me")
    news = circuit(A, "HALF_OPEN", version=2, prober="me")
    board.learn_circuits([news])

    through = 0
    for alone in asks:
        board.learn_circuits([news])
        chosen = choose(board, "http_a") if alone else choose(board, "http_a", "http_b")
        if isinstance(chosen, ChosenVendor) and chosen.vendor == "http_a":
            assert chosen.why == "probe"
            through += 1

    assert through == min(len(asks), board.settings.circuits.probes)


def test_only_the_prober_probes() -> None:
    board = traffic(name="me")
    board.learn_circuits([circuit(A, "HALF_OPEN", version=2, prober="another")])

    assert isinstance(choose(board, "http_a"), NoVendorAvailable)
    assert choose(board, "http_a", "http_b") == ChosenVendor("http_b", B.id, "circuit of http_a open")


def test_nothing_is_probed_that_failed_with_the_same_message_before() -> None:
    board = traffic(name="me")
    board.learn_circuits([circuit(A, "HALF_OPEN", version=2, prober="me")])

    chosen = choose(board, "http_a", "http_b", tried=("http_a",))

    assert isinstance(chosen, ChosenVendor)
    assert chosen.vendor == "http_b"


def test_a_repeat_is_a_probe_where_nobody_else_can_be_asked() -> None:
    """An account whose only traffic are repeats gets out of its open circuit."""
    board = traffic(name="me")
    board.learn_circuits([circuit(A, "HALF_OPEN", version=2, prober="me")])

    alone = choose(board, "http_a", tried=("http_a",))
    both = choose(board, "http_a", "http_b", tried=("http_a", "http_b"))
    board.learn_circuits([circuit(B, "OPEN", version=1)])
    the_other_is_open = choose(board, "http_a", "http_b", tried=("http_a",))

    assert [alone, both, the_other_is_open] == [ChosenVendor("http_a", A.id, "probe")] * 3


def test_answers_count_for_the_version_they_came_under() -> None:
    board = traffic(name="me")
    seen = {"prefix": "+93", "ok": 1, "failed": 0, "seconds": 0.1, "slow": False}

    board.observe(A.id, **seen)  # type: ignore[arg-type]
    board.learn_circuits([circuit(A, "OPEN", version=1)])
    board.observe(A.id, **seen)  # type: ignore[arg-type]
    board.learn_circuits([circuit(A, "HALF_OPEN", version=2, prober="another")])
    board.observe(A.id, **seen)  # type: ignore[arg-type]
    board.learn_circuits([circuit(A, "HALF_OPEN", version=3, prober="me")])
    board.observe(A.id, **seen)  # type: ignore[arg-type]
    board.learn_circuits([circuit(A, "CLOSED", version=4)])
    board.observe(A.id, **seen)  # type: ignore[arg-type]

    assert {one.era: one.ok for one in board.tally.take()} == {0: 1, LATE: 2, 3: 1, 4: 1}


def test_a_set_is_counted_by_country_and_by_what_speaks_against_the_vendor() -> None:
    board = traffic()
    answers: list[tuple[str, Outcome]] = [
        ("+93700000001", Accepted()),
        ("+93700000002", Refused(reason="no such number", code="invalid_recipient")),
        ("+93700000003", TryLater(reason="down", code="503")),
        ("+4915100000001", Unlearned(reason="silence")),
        ("+4915100000002", Refused(reason="who are you", code="401")),
        ("+4915100000003", TryLater(reason="limit", code="vendor_limit")),
        ("+4915100000004", TryLater(reason="mailbox full", code="4.2.2")),
    ]

    board.observe_set(A.id, answers, seconds=5.5)

    seen = {one.prefix: (one.ok, one.failed, one.slow) for one in board.tally.take()}
    assert seen == {"+93": (2, 1, 0), "+49": (0, 2, 0)}
    board.observe_set(A.id, answers, seconds=5.7)
    assert {one.prefix: one.slow for one in board.tally.take()} == {"+93": 3, "+49": 2}


def test_a_circuit_that_opens_says_what_the_calls_failed_of() -> None:
    board = traffic()
    refused = TryLater(reason="no", code="5.7.8")
    other = TryLater(reason="later", code="4.3.2")
    board.observe_set(A.id, [("a@example.test", one) for one in (*[refused] * 9, other)], seconds=0.1)
    seen = AnswerCounts(
        account_id=A.id, tenant_id=None, vendor="smtp", prefix="", era=0, counts=Counts(failed=10)
    )

    (change,) = circuit_changes(board, AnswerTotals.of([seen]), now=SystemClock().now())

    assert change.after.reason == (
        "10 of 10 calls failed, mostly 5.7.8: the server did not accept the user name and password"
    )
    # What goes well again is not remembered.
    board.observe_set(A.id, [("a@example.test", Accepted())], seconds=0.1)
    assert board.cause(A.id) is None


@pytest.mark.parametrize("code", sorted(OUR_CODES))
def test_what_is_our_own_fault_speaks_against_no_vendor(code: str) -> None:
    """A set without time, settings that can't be used: the vendor was never asked."""
    board = traffic()

    board.observe_set(A.id, [("+93700000001", TryLater(reason="ours", code=code))] * 20, seconds=0.1)

    assert board.tally.take() == []


def test_what_could_not_be_told_is_not_forgotten() -> None:
    board = traffic()
    board.observe(A.id, prefix="", ok=3, failed=1, seconds=0.5, slow=True)
    taken = board.tally.take()
    board.observe(A.id, prefix="", ok=1, failed=0, seconds=0.25, slow=False)

    board.tally.give_back(taken)

    (one,) = board.tally.take()
    assert (one.ok, one.failed, one.slow, one.seconds) == (4, 1, 4, 0.75)
    assert board.tally.take() == []


@pytest.mark.parametrize("many", [0, 1, 500])
async def test_accounts_without_limits_ask_nobody(many: int) -> None:
    board = VendorSelection(NoLimits(), clock=ManualClock())

    (admitted,) = await board.admit([(A, many)])

    assert (admitted.count, admitted.until) == (many, None)


def _failed(board: VendorSelection) -> int:
    return sum(one.failed for one in board.tally.take())


async def test_a_message_that_fails_again_where_others_are_taken_speaks_of_itself() -> None:
    """Its first failure counts; the next ones count while the account has taken nobody since, as far as any process knows."""
    clock = ManualClock()
    board = traffic(clock)
    later = TryLater(reason="gone", code="connection")
    first = clock.now()
    await clock.advance(timedelta(seconds=1))

    board.observe_set(A.id, [("a@example.test", later)], seconds=0.1)
    assert _failed(board) == 1
    board.observe_set(A.id, [("a@example.test", later)], seconds=0.1, tried_since=[first])
    assert _failed(board) == 1
    board.learn_taken({A.id: first})
    board.observe_set(A.id, [("a@example.test", later)], seconds=0.1, tried_since=[first])
    assert _failed(board) == 1
    board.learn_taken({A.id: clock.now()})
    board.observe_set(A.id, [("a@example.test", later)], seconds=0.1, tried_since=[first])
    assert _failed(board) == 0
    board.observe_set(A.id, [("b@example.test", later)], seconds=0.1, tried_since=[clock.now()])
    assert _failed(board) == 1


@pytest.mark.parametrize(
    ("before", "after", "sooner"),
    [
        (("OPEN", 60), ("CLOSED", None), True),
        (("OPEN", 60), ("OPEN", 0), True),
        (("OPEN", None), ("OPEN", 0), True),
        (("OPEN", 60), ("OPEN", 90), False),
        (("OPEN", 0), ("HALF_OPEN", None), False),
        (("HALF_OPEN", None), ("CLOSED", None), False),
        (("CLOSED", None), ("OPEN", 30), False),
    ],
)
def test_those_who_wait_are_woken_only_where_they_were_told_too_late_a_time(
    before: tuple[CircuitState, int | None], after: tuple[CircuitState, int | None], sooner: bool
) -> None:
    clock = ManualClock()
    board = traffic(clock)
    for version, (state, seconds) in enumerate((before, after), start=1):
        until = None if seconds is None else clock.now() + timedelta(seconds=seconds)
        board.sooner = False
        board.learn_circuits([circuit(A, state, version=version, until=until)])

    assert board.sooner is sooner
