"""What the database tells of an execution in the end, beside what its vendors saw."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

import msgspec

from tests.simulation.conduct import Conduct
from tests.simulation.postgres.vendors import Handed
from tests.simulation.seen import Outcome, Seen, Told, Write
from tidings.contracts.delivery import OUTCOME_SUBJECT, DeliveryOutcome, HandOff
from tidings.kernel.db import TenantTx, WorkerTx
from tidings.kernel.ids import TenantId
from tidings.router.executions.snapshot import frozen_of
from tidings.router.profiles import store as profiles
from tidings.router.profiles.model import Profile
from tidings.router.profiles.posterior import PRIOR
from tidings.router.state_machine.retry_policy import STEP_RETRY_POLICIES

#: Later than everything: where nobody knows when it was.
_LAST: Final = 2**62


async def announced(tx: WorkerTx, tenant_id: TenantId) -> dict[str, list[Outcome]]:
    """All outcomes of a tenant, by notification."""
    rows = await tx.connection.fetch(
        "SELECT ordering_key, payload FROM chan.outbox WHERE tenant_id = $1 AND subject = $2 ORDER BY seq",
        tenant_id,
        OUTCOME_SUBJECT,
    )
    found: dict[str, list[Outcome]] = {}
    for row in rows:
        found.setdefault(row["ordering_key"], []).append(_outcome(row["payload"]))
    return found


async def read(
    tx: TenantTx,
    hand_off: HandOff,
    *,
    begin: datetime,
    cap: int | None,
    handed: Sequence[Handed],
    vendors: Mapping[str, Conduct],
    lived: Collection[str],
    outcomes: Sequence[Outcome],
) -> Seen:
    """One execution. `lived`: workers that lived to write what they learned."""
    fetch = tx.connection.fetch
    ended = await fetch(
        "SELECT id, ladder_snapshot, strategy, total_cost_micros FROM chan.fallback_executions "
        "WHERE notification_id = $1",
        hand_off.notification_id,
    )
    live = await fetch(
        "SELECT id, ladder_snapshot, strategy FROM chan.executions_live WHERE notification_id = $1",
        hand_off.notification_id,
    )
    attempts = await fetch(
        "SELECT id, step_index, channel, provider, status, reason, provider_message_id, cost_micros "
        "FROM chan.delivery_attempts WHERE execution_id = ANY ($1) ORDER BY started_at, id",
        [row["id"] for row in (*ended, *live)],
    )
    given_up = await fetch(
        "SELECT attempt_id FROM chan.delivery_attempt_events WHERE status = 'timed_out' AND execution_id = ANY ($1)",
        [row["id"] for row in (*ended, *live)],
    )
    profile = (await profiles.load(tx, [hand_off.recipient_id])).get(hand_off.recipient_id)
    row = (*ended, *live)[0]
    steps = frozen_of(row["ladder_snapshot"]).steps
    policy = STEP_RETRY_POLICIES[hand_off.use_case]
    by_mark = {(one.call.vendor, one.mark): one for one in handed if one.mark is not None}
    told: list[Told] = []
    found: dict[tuple[str, str], str] = {}
    for one in attempts:
        key = (one["provider"], one["provider_message_id"] or one["reason"])
        call = by_mark.get(key)
        if call is not None:
            found[key] = one["id"]
        told.append(
            Told(
                id=one["id"],
                step=one["step_index"],
                channel=one["channel"],
                vendor=one["provider"],
                status=one["status"],
                reason=one["reason"],
                cost=one["cost_micros"] or 0,
                # Whoever calls next has read what this call came to, since only one has it in hand.
                stamp=_LAST if call is None else call.call.stamp,
            )
        )
    # What a vendor answered to somebody who lived is told; of the others it is known only that they were noted.
    noted = [one.id for one in told if one.vendor is not None]
    noted += [
        f"{vendor} {mark}"
        for (vendor, mark), one in by_mark.items()
        if one.call.worker in lived and (vendor, mark) not in found
    ]
    deaf = {name for name, vendor in vendors.items() if not vendor.receipts}
    spent = sum(one["total_cost_micros"] or 0 for one in ended)
    return Seen(
        steps=steps,
        use_case=hand_off.use_case,
        strategy=row["strategy"],
        begin=begin,
        expires_at=hand_off.expires_at,
        cap=cap,
        budgets=tuple(policy.tries if s.retries is None else s.retries + 1 for s in steps),
        clocks=tuple(
            timedelta(seconds=s.deadline)
            if s.deadline is not None
            else policy.last_step_timeout
            if place == len(steps)
            else policy.step_timeout
            for place, s in enumerate(steps, 1)
        ),
        calls=[replace(one.call, attempt_id=found.get((one.call.vendor, one.mark or ""))) for one in handed],
        told=told,
        noted=noted,
        writes=[Write(stamp=_LAST, reserved=0, spent=spent, held=0)],
        outcomes=list(outcomes),
        without_receipts={one.id for one in told if one.vendor in deaf},
        spent_at_end=spent,
        given_up={row["attempt_id"] for row in given_up},
        learned=[] if profile is None else _learned(profile),
        learned_late=True,
        written_after_end=max(0, len(ended) + len(live) - 1),
    )


def _learned(profile: Profile) -> list[tuple[str, bool]]:
    """How often each channel was seen to reach its person, and not to; within hours nothing fades."""
    found: list[tuple[str, bool]] = []
    for channel, score in profile.channels.items():
        found += [(channel, True)] * round(score.posterior.a - PRIOR)
        found += [(channel, False)] * round(score.posterior.b - PRIOR)
    return found


def _outcome(payload: str) -> Outcome:
    told = msgspec.json.decode(payload, type=DeliveryOutcome)
    return Outcome(
        result=told.result,
        at=told.ended_at,
        stamp=_LAST,
        evidence=told.evidence,
        final_channel=told.final_channel,
        reason=told.reason,
    )
