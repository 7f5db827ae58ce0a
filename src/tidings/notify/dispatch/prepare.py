"""The port that notify offers the router: a later step, at the moment of sending, gated and rendered anew."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from tidings.contracts.delivery import PreparedStep, SkipStep, StepAsk
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.notify.accept.row import NotificationRow
from tidings.notify.decide import trace
from tidings.notify.dispatch import store
from tidings.notify.dispatch.compose import after, encode_snapshot
from tidings.notify.dispatch.exact_bodies import refs_of
from tidings.notify.dispatch.steps import StepMade, StepMaker, StepWork
from tidings.notify.dispatch.store import Move
from tidings.notify.facts.load import FactsLoader

#: Lines of a trace that are kept at most, and how many of them are the first.
_MOST_LINES: Final = 240
_FIRST_LINES: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class StepGate:
    """Notify's `StepPreparer`."""

    db: Database
    loader: FactsLoader
    keyring: Keyring
    steps: StepMaker
    clock: Clock

    async def prepare(self, asks: Sequence[StepAsk]) -> list[PreparedStep]:
        """One answer each, in the same order; what the gates said is kept with the notification."""
        answers: dict[int, PreparedStep] = {}
        for tenant_id in sorted({ask.tenant_id for ask in asks}):
            places = [place for place, ask in enumerate(asks) if ask.tenant_id == tenant_id]
            prepared = await self._of_tenant(tenant_id, [asks[place] for place in places])
            answers.update(zip(places, prepared, strict=True))
        return [answers[place] for place in range(len(asks))]

    async def _of_tenant(self, tenant_id: TenantId, asks: Sequence[StepAsk]) -> list[PreparedStep]:
        shared = await self.loader.shared()
        async with self.db.tenant(tenant_id, by_index=True) as tx:
            found = await store.load_pending(tx, [ask.notification_id for ask in asks])
            people = {p.recipient_id for p in found.values()} | {ask.recipient_id for ask in asks}
            facts = await self.loader.load(
                tx, shared, people, channels={ask.channel for ask in asks}, guardians=False
            )
            pepper = await self.keyring.pepper(tx)
        known = [ask for ask in asks if ask.notification_id in found]
        made = await self.steps.make(
            {tenant_id: facts},
            {tenant_id: pepper},
            [
                StepWork(
                    pending=found[ask.notification_id],
                    recipient_id=ask.recipient_id,
                    channel=ask.channel,
                    step=ask.step,
                    taken=ask.taken,
                )
                for ask in known
            ],
        )
        moves = _moves(found, [(ask, step) for ask, step in zip(known, made, strict=True)])
        if moves:
            async with self.steps.keeping_bodies(made), self.db.tenant(tenant_id, by_index=True) as tx:
                await self.steps.keep_links(tx, made)
                await store.note_steps(tx, moves, now=self.clock.now())
        prepared = {_key(ask): step.prepared for ask, step in zip(known, made, strict=True)}
        gone = SkipStep(reason="notification_unknown", result="FAILED", ends=True)
        return [prepared.get(_key(ask), gone) for ask in asks]


def _moves(
    found: Mapping[NotificationId, NotificationRow], made: Sequence[tuple[StepAsk, StepMade]]
) -> list[Move]:
    """What is kept of the steps, one for each notification: several of its steps may be taken at once."""
    moves: dict[NotificationId, Move] = {}
    for ask, step in made:
        pending = found[ask.notification_id]
        before = moves.get(ask.notification_id)
        composed = step.composed
        move = Move(
            pending=pending,
            status=pending.status,
            trace=_bounded(trace.append(pending.trace if before is None else before.trace, step.lines)),
            locale=before.locale if before is not None else None,
            snapshot=before.snapshot if before is not None else None,
            record=before.record if before is not None else None,
            body_ref=before.body_ref if before is not None else None,
        )
        if composed is not None:
            known = pending.render_snapshot if move.snapshot is None else move.snapshot
            kept = after(known, composed.snapshot)
            move = replace(
                move,
                locale=composed.locale,
                snapshot=encode_snapshot(kept),
                record=step.record,
                body_ref=_refs(move.body_ref, step.body_ref),
            )
        moves[ask.notification_id] = move
    return list(moves.values())


def _refs(before: str | None, mine: str | None) -> str | None:
    """Of two steps that are taken at once, both."""
    if before is None or mine is None:
        return mine or before
    return msgspec.json.encode(refs_of(before) | refs_of(mine)).decode()


def _bounded(text: str) -> str:
    """A step that is asked for again and again must not make its notification grow: the beginning and the latest stay."""
    lines = text.split(";")
    return (
        text
        if len(lines) <= _MOST_LINES
        else ";".join((*lines[:_FIRST_LINES], *lines[_FIRST_LINES - _MOST_LINES :]))
    )


def _key(ask: StepAsk) -> tuple[NotificationId, RecipientId, int]:
    return ask.notification_id, ask.recipient_id, ask.step
