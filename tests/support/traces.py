"""Stories of notifications made by hand, for tests of telling them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tidings.contracts.delivery import DeliveryRoute
from tidings.contracts.enums import NotificationStatus
from tidings.contracts.execution_history import AttemptRecord, ExecutionRecord, StepRecord
from tidings.contracts.ids import NOTIFICATION, RECIPIENT, NotificationId, RecipientId
from tidings.notify.decide.trace import decode
from tidings.notify.ids import TEMPLATE_VERSION, TemplateVersionId
from tidings.notify.notifications.model import Notification
from tidings.notify.notifications.store import LoggedAttempt, Wait
from tidings.notify.notifications.trace import DeliveryTrace

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
ID: NotificationId = NOTIFICATION.new(NOON)
LAILA: RecipientId = RECIPIENT.new(NOON)
VERSION: TemplateVersionId = TEMPLATE_VERSION.new(NOON)
#: All that is decided once, passed.
PASSED = "t+;e+;r+;c+;q+;l+"
#: The first step, passed.
STEP = "1.s+;1.e+;1.t+;1.r+;1.h+;1.a+;1.p+;1.f+;1.q+"


def after(seconds: float) -> datetime:
    """So long after noon."""
    return NOON + timedelta(seconds=seconds)


def notification(status: NotificationStatus = NotificationStatus.QUEUED, **facts: Any) -> Notification:
    """One that was accepted at noon."""
    moments = {"queued": NOON, **facts.pop("moments", {})}
    return replace(
        Notification(
            id=ID,
            recipient_id=LAILA,
            status=status,
            channel="email",
            final_channel=None,
            category="transactional",
            use_case="txn",
            priority="normal",
            locale=None,
            template_key="order_confirmation",
            template_semver="1.0.0",
            template_version_id=VERSION,
            preference_version=None,
            scheduled_for=None,
            expires_at=NOON + timedelta(days=3),
            moments=moments,
            reason=None,
            evidence=None,
            trace=None,
            render_snapshot=None,
            correlation_id=None,
            source_event_id=None,
            is_test=False,
            metadata={},
            updated_at=NOON,
        ),
        **facts,
    )


def attempt(
    status: str = "accepted", *, started: float = 1, ended: float | None = 1.5, **facts: Any
) -> AttemptRecord:
    """A call to smtp."""
    return replace(
        AttemptRecord(
            id=f"attempt_{started}",
            step=1,
            channel="email",
            vendor="smtp",
            status=status,
            reason=None,
            provider_message_id=None,
            started_at=after(started),
            ended_at=None if ended is None else after(ended),
        ),
        **facts,
    )


def execution(*attempts: AttemptRecord, **facts: Any) -> ExecutionRecord:
    """A ladder of smtp and then http, begun a second after noon; under way unless told."""
    return replace(
        ExecutionRecord(
            id="exec_1",
            notification_id=ID,
            recipient_id=LAILA,
            strategy="FAILOVER",
            routes=(
                DeliveryRoute(channel="email", vendor="smtp"),
                DeliveryRoute(channel="email", vendor="http"),
            ),
            steps=tuple(
                StepRecord(
                    channel="email",
                    vendors=(vendor,),
                    success="accepted",
                    deadline_seconds=None,
                    retry_budget=None,
                )
                for vendor in ("smtp", "http")
            ),
            policy_id=None,
            policy_version=None,
            started_at=after(1),
            ended_at=None,
            result=None,
            evidence=None,
            final_channel=None,
            due_at=after(1),
            attempts=attempts,
        ),
        **facts,
    )


def delivery_trace(
    one: Notification | None = None,
    *,
    waits: tuple[Wait, ...] = (),
    executions: tuple[ExecutionRecord, ...] = (),
    log: tuple[LoggedAttempt, ...] = (),
) -> DeliveryTrace:
    """A trace of these parts."""
    one = one or notification()
    return DeliveryTrace(
        notification=one, lines=decode(one.trace), waits=waits, executions=executions, log=log
    )


def in_queue(*, claimed: bool = False) -> Wait:
    """A place in the queue."""
    return Wait(kind="queue", created_at=NOON, run_after=None, claimed=claimed, over=False)


def appointment(kind: str, *, made: float, due: float, over: bool = False) -> Wait:
    """An appointment."""
    return Wait(kind=kind, created_at=after(made), run_after=after(due), claimed=False, over=over)


def delivered() -> DeliveryTrace:
    """One that went well."""
    return delivery_trace(
        notification(
            NotificationStatus.DELIVERED,
            moments={"dispatched": after(1), "delivered": after(2)},
            trace=f"{PASSED};{STEP}",
            final_channel="email",
            evidence="accepted",
            preference_version=3,
            locale="fa-AF",
            render_snapshot={"locale": "fa", "direction": "rtl", "time_zone": "Asia/Kabul", "digest": "x"},
        ),
        executions=(
            execution(
                attempt(),
                ended_at=after(1.6),
                result="DELIVERED",
                evidence="accepted",
                final_channel="email",
                due_at=None,
            ),
        ),
    )
