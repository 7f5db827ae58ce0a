"""The drawings of `docs/state-machines.md` show the states and the transitions that the code has."""

import re
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import get_args

from tidings.backoffice.alerts.model import AlertStatus
from tidings.backoffice.ids import OperatorId
from tidings.backoffice.operators.model import MOST_FAILURES, OperatorRecord, OperatorStatus
from tidings.backoffice.sessions.model import SessionState
from tidings.contracts.delivery import DeliveryResult
from tidings.contracts.enums import NotificationStatus
from tidings.kernel.refusals import ConflictError
from tidings.notify.batches.model import REACHED_FROM, BatchStatus
from tidings.notify.ids import InboxItemId
from tidings.notify.imports.model import ImportStatus
from tidings.notify.inbox.model import InboxItem, Verb
from tidings.notify.templates.model import VersionStatus
from tidings.notify.webhooks.model import WebhookDeliveryStatus, WebhookStatus
from tidings.router.conversations.model import ConversationStatus
from tidings.router.executions_api.steps import StepState
from tidings.router.traffic.circuit import (
    Circuit,
    CircuitRules,
    CircuitState,
    Counts,
    Override,
    hold,
    judge,
    lift,
)

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "state-machines.md").read_text(encoding="utf-8")
SQL = ROOT / "src" / "tidings"
Arrows = set[tuple[str, str]]


def drawing(heading: str) -> tuple[set[str], Arrows]:
    """The states and the transitions between them in the first drawing under a heading."""
    _, _, section = PAGE.partition(f"# {heading}\n")
    block = section.split("```mermaid\n", 1)[1].split("```", 1)[0]
    arrows = re.findall(r"^\s+(\S+) --> (\S+?)(?::.*)?$", block, re.MULTILINE)
    alone = re.findall(r"^\s+(\w+)$", block, re.MULTILINE)
    states = {state for arrow in arrows for state in arrow if state != "[*]"} | {*alone}
    return states, {(old, new) for old, new in arrows if old != "[*]"}


def queries(folder: str) -> list[str]:
    """Every named query of a package."""
    files = sorted((SQL / folder).rglob("*.sql"))
    return [block for file in files for block in file.read_text(encoding="utf-8").split("-- name: ")]


def words(text: str) -> set[str]:
    return set(re.findall(r"'(\w+)'", text))


def test_a_notification_moves_as_its_statements_let_it() -> None:
    allowed: Arrows = set()
    for query in queries("notify"):
        written = re.search(
            r"UPDATE notification\.notifications AS n\s+SET status = ('\w+'|found\.status)", query
        )
        if written is None:
            continue
        guard = re.search(r"n\.status (?:IN \([^)]*\)|= '\w+')", query)
        assert guard is not None, f"a change of status without a guard: {query[:60]}"
        given = (
            written[1]
            if written[1] != "found.status"
            else str(re.findall(r"found\.status (?:=|IN) [^T]*T", query))
        )
        # A deferred one leaves no column of its own behind.
        deferred = {"scheduled"} if query.startswith("move") else set()
        allowed |= set(product(words(guard[0]), words(given) | deferred))

    states, drawn = drawing("Notification")
    assert states == {status.value for status in NotificationStatus}
    assert drawn == allowed


def test_an_execution_ends_in_one_of_its_results() -> None:
    states, drawn = drawing("Execution")

    assert states == {"under_way", *get_args(DeliveryResult)}
    assert drawn == {("under_way", state) for state in states}


def test_a_step_has_the_states_that_the_api_shows() -> None:
    states, drawn = drawing("Step of an execution")

    assert states == {*get_args(StepState)}
    assert {old for old, _ in drawn} == states - {"reached"}
    # A late receipt, a second chance when no other step is left, and another vendor after a receipt of failure.
    assert drawn >= {("left", "reached"), ("skipped", "waiting"), ("awaiting_receipt", "waiting")}


def test_a_circuit_moves_as_its_rules_let_it() -> None:
    now, rules = datetime(2026, 1, 1, tzinfo=UTC), CircuitRules()
    found: Arrows = set()
    for state, counts, later, held in product(
        get_args(CircuitState),
        (Counts(), Counts(ok=200), Counts(failed=200), Counts(ok=200, slow=200)),
        (timedelta(), timedelta(days=1)),
        (None, *get_args(Override.__annotations__["state"])),
    ):
        circuit = Circuit(state=state, since=now, until=now, prober="me")
        after = (
            judge(circuit, counts, now=now + later, me="me", wanted=True, rules=rules)
            if held is None
            else hold(circuit, Override(state=held, until=None, reason="test"), now=now)
        )
        for one in [after] if after else []:
            found |= (
                {(state, one.state), (one.state, lift(one, now=now).state)}
                if one.override
                else {(state, one.state)}
            )

    states, drawn = drawing("Circuit")
    assert states == {*get_args(CircuitState)}
    assert drawn == found


def test_a_conversation_closes_and_never_opens_again() -> None:
    states, drawn = drawing("Conversation")
    written = [query for query in queries("router/conversations") if "UPDATE chan.conversations" in query]

    assert states == {*get_args(ConversationStatus)}
    assert drawn == {("OPEN", state) for state in states - {"OPEN"}}
    assert [query[:40] for query in written if re.search(r"SET status = 'OPEN'|THEN 'OPEN'", query)] == []


def test_a_template_version_has_its_three_states() -> None:
    states, drawn = drawing("Template version")

    assert states == {status.value for status in VersionStatus}
    assert ("archived", "draft") not in drawn
    assert {new for _, new in drawn} == {"active", "archived"}


def test_an_import_has_its_three_states() -> None:
    states, drawn = drawing("Import")

    assert states == {status.value for status in ImportStatus}
    # `end_import` and `take_over` leave a completed one alone.
    guards = [query for query in queries("notify/imports") if query.startswith(("end_import", "take_over"))]
    assert all("completed'" in query for query in guards)
    assert {old for old, _ in drawn} == {"running", "interrupted"}


def test_webhooks_and_their_deliveries_have_the_states_that_are_drawn() -> None:
    """And a delivery is written in each of them by a statement."""
    states, arrows = drawing("Webhook")
    assert states == set(WebhookStatus)
    assert ("active", "disabled") in arrows
    states, _ = drawing("Webhook delivery")
    assert states == set(WebhookDeliveryStatus)
    written = " ".join(query for query in queries("notify/webhooks") if "webhook_deliveries" in query)
    assert states <= words(written) | {"delivered"}


def test_a_batch_moves_as_its_table_lets_it() -> None:
    states, arrows = drawing("Batch")

    assert states == {status.value for status in BatchStatus}
    assert arrows == {(old.value, new.value) for new, olds in REACHED_FROM.items() for old in olds}


def test_an_inbox_item_moves_as_its_model_says() -> None:
    now = datetime(2026, 11, 15, tzinfo=UTC)
    fresh = InboxItem(
        id=InboxItemId("inb_01M7FH87G06QQE67ATFGNQ1BJ2"),
        place=1,
        category="transactional",
        priority="normal",
        tags=(),
        arrived_at=now,
        expires_at=now + timedelta(days=9),
    )

    def where(item: InboxItem) -> str:
        if item.removed_at is not None:
            return "removed"
        if item.archived_at is not None:
            return "archived"
        return "snoozed" if item.snoozed_until is not None else "in_view"

    items = [fresh, fresh.after("archive", now), fresh.after("snooze", now, now), fresh.after("delete", now)]
    moves = {
        (where(item), where(after))
        for item in items
        for after in (*(item.after(verb, now, now) for verb in get_args(Verb)), item.removed(now))
    }

    assert drawing("Inbox item") == (
        {where(item) for item in items},
        {(old, new) for old, new in moves if old != new},
    )


def test_an_operator_moves_as_the_model_says() -> None:
    now = datetime(2026, 11, 15, tzinfo=UTC)
    invited = OperatorRecord(
        id=OperatorId("oper_01M7FH87G06QQE67ATFGNQ1BJ2"),
        tenant_id=None,
        role="platform.support",
        created_by="test",
        created_at=now,
        updated_at=now,
    )
    active = replace(invited, password_hash="kept").joined([], 1)
    locked = replace(active, failures=MOST_FAILURES - 1).failed(now, "password")
    known = [invited, active, locked, invited.disabled(), active.disabled()]
    verbs = ("disabled", "enabled", "unlocked", "reset", "passed")
    moves = {(invited.status, active.status), (active.status, locked.status)}
    for operator, verb in product(known, verbs):
        if verb == "passed" and not operator.may_sign_in():
            continue
        with suppress(ConflictError):
            moves.add((operator.status, getattr(operator, verb)().status))
    moves |= {(operator.status, operator.erased(now).status) for operator in known}

    assert drawing("Operator") == (
        set(get_args(OperatorStatus)),
        {(old, new) for old, new in moves if old != new},
    )


def test_a_session_ends_once_in_one_of_the_ways_that_are_drawn() -> None:
    states, arrows = drawing("Operator session")

    assert states == set(get_args(SessionState))
    assert arrows == {("active", end) for end in states - {"active"}}


def test_an_attestation_is_used_by_the_statement_that_looks_whether_it_is_over() -> None:
    states, arrows = drawing("Attestation")
    [taking] = [query for query in queries("backoffice/attestations") if "UPDATE" in query]

    assert states == {"issued", "used", "expired"}
    assert arrows == {("issued", "used"), ("issued", "expired")}
    assert "used_at IS NULL AND expires_at > :now" in taking


def test_an_alert_has_the_states_that_are_drawn() -> None:
    states, drawn = drawing("Alert")

    assert states == {*get_args(AlertStatus)}
    assert drawn == {
        ("raised", "acknowledged"),
        ("acknowledged", "raised"),
        *product(states - {"resolved"}, {"resolved"}),
    }
