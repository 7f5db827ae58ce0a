"""The port that notify offers the router: a later step, at the moment of sending, gated and rendered anew."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

import msgspec

from tidings.contracts.delivery import PreparedStep, SkipStep, StepAsk, WaitStep
from tidings.contracts.ids import RecipientId
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.errors import DatabaseBusyError
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.mapping import by_name
from tidings.notify.accept.row import NotificationRow
from tidings.notify.decide import trace
from tidings.notify.dispatch import store
from tidings.notify.dispatch.compose import after, encode_snapshot
from tidings.notify.dispatch.exact_bodies import refs_of
from tidings.notify.dispatch.message import StepWork
from tidings.notify.dispatch.steps import StepMade, StepMaker
from tidings.notify.dispatch.store import Move, OwnedId
from tidings.notify.facts.load import FactsLoader

#: Lines of a trace that are kept at most, and how many of them are the first.
_MOST_LINES: Final = 240
_FIRST_LINES: Final = 60
#: A step whose notification is locked is asked for again after this.
_ASK_AGAIN: Final = timedelta(seconds=5)


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
        if not asks:
            return []
        shared = await self.loader.shared()
        wanted = list(dict.fromkeys(map(_owned, asks)))
        async with self.db.tenants({ask.tenant_id for ask in asks}, by_index=True) as tx:
            found, people = await store.load_with_people(tx, wanted)
            facts = await self.loader.load_set(
                tx,
                shared,
                {tenant_id for tenant_id, _ in found},
                people,
                channels={ask.channel for ask in asks},
                # Guardians who are written to instead.
                others=[(ask.tenant_id, ask.recipient_id) for ask in asks if _owned(ask) in found],
                guardians=False,
            )
            peppers = await self.keyring.peppers(tx, facts)
        known = [ask for ask in asks if _owned(ask) in found]
        works = [
            by_name(StepWork, ask, pending=found[_owned(ask)], recipient_id=ask.recipient_id) for ask in known
        ]
        made = await self.steps.make(facts, peppers, works)
        moves = _moves(found, [(ask, step) for ask, step in zip(known, made, strict=True)])
        locked: set[TenantId] = set()
        if moves:
            async with self.steps.keeping_bodies(made):
                locked = await self._note(moves, made)
        held_up = WaitStep(until=self.clock.now() + _ASK_AGAIN, reason="notification_locked")
        prepared = {
            _key(ask): held_up if ask.tenant_id in locked else step.prepared
            for ask, step in zip(known, made, strict=True)
        }
        gone = SkipStep(reason="notification_unknown", result="FAILED", ends=True)
        return [prepared.get(_key(ask), gone) for ask in asks]

    async def _note(
        self, moves: Sequence[Move], made: Sequence[StepMade], *, briefly: bool = False
    ) -> set[TenantId]:
        """Keep what the gates said; where a row of some tenant is locked, tenant by tenant. The tenants with a locked row."""
        tenants = sorted({move.pending.tenant_id for move in moves})
        try:
            async with self.db.tenants(tenants, by_index=True, briefly=briefly) as tx:
                await self.steps.keep_links(tx, made)
                await store.note_steps(tx, moves, now=self.clock.now())
        except DatabaseBusyError:
            if len(tenants) == 1:
                return set(tenants)
            locked: set[TenantId] = set()
            for tenant_id in tenants:
                locked |= await self._note(
                    [move for move in moves if move.pending.tenant_id == tenant_id],
                    [step for step in made if step.links is None or step.links.token.tenant_id == tenant_id],
                    briefly=True,
                )
            return locked
        return set()


def _moves(found: Mapping[OwnedId, NotificationRow], made: Sequence[tuple[StepAsk, StepMade]]) -> list[Move]:
    """What is kept of the steps, one for each notification: several of its steps may be taken at once."""
    moves: dict[OwnedId, Move] = {}
    for ask, step in made:
        pending = found[_owned(ask)]
        before = moves.get(_owned(ask))
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
        moves[_owned(ask)] = move
    # In one order everywhere, so that two sets never wait for each other crosswise.
    return [moves[owned] for owned in sorted(moves)]


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


def _owned(ask: StepAsk) -> OwnedId:
    return ask.tenant_id, ask.notification_id


def _key(ask: StepAsk) -> tuple[OwnedId, RecipientId, int]:
    return _owned(ask), ask.recipient_id, ask.step
