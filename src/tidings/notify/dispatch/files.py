"""The files that go along with a step: read, left out, or away."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Final, TypeAlias

from tidings.contracts.delivery import SkipStep, WaitStep
from tidings.contracts.enums import WITH_FILES
from tidings.contracts.messages import Attachment
from tidings.contracts.tenants import Channel
from tidings.kernel.blobs.store import BlobDamagedError, BlobError, BlobNotFoundError
from tidings.kernel.clock import Clock
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DestroyedKeyError
from tidings.kernel.logs import get_logger, why
from tidings.notify.accept.attachments import Attachments
from tidings.notify.accept.row import ATTACHMENTS_PURPOSE
from tidings.notify.decide.model import TraceLine
from tidings.notify.dispatch.message import StepWork
from tidings.notify.facts.model import Facts

#: What a step says that goes without the attached files.
FILES_LEFT_OUT: Final = "files_left_out"
#: Why a step fails whose attached files are gone, damaged or under no key of ours.
FILES_UNREADABLE: Final = "files_unreadable"
#: Why a step waits, and for how long, while the blob store does not give out its files.
FILES_AWAY: Final = "files_away"
_AWAY: Final = timedelta(seconds=10)
#: Notifications whose files are read side by side.
_FILES_AT_ONCE: Final = 4

#: Those of a step, or what becomes of it without them.
StepFiles: TypeAlias = tuple[Attachment, ...] | SkipStep | WaitStep

_log = get_logger("dispatch")


async def files_of(
    attachments: Attachments, clock: Clock, facts: Mapping[TenantId, Facts], works: Mapping[int, StepWork]
) -> dict[int, StepFiles]:
    """The files of each, some side by side; or what becomes of the step without them, which is no fault of the others."""
    slots = asyncio.Semaphore(_FILES_AT_ONCE)

    async def read(work: StepWork) -> StepFiles:
        async with slots:
            return await _read(attachments, clock, work, facts[work.tenant_id])

    found: dict[int, StepFiles] = dict.fromkeys(works, ())
    brought = [
        place
        for place, work in works.items()
        if work.pending.attachments is not None and work.channel in WITH_FILES
    ]
    if brought:
        found.update(
            zip(brought, await asyncio.gather(*(read(works[place]) for place in brought)), strict=True)
        )
    return found


async def _read(attachments: Attachments, clock: Clock, work: StepWork, facts: Facts) -> StepFiles:
    owner = facts.people[work.pending.recipient_id].key
    if work.pending.attachments is None or owner is None:
        return ()
    try:
        manifest = owner.unseal(work.pending.attachments, ATTACHMENTS_PURPOSE)
        return await attachments.open(work.tenant_id, manifest)
    except (BlobNotFoundError, BlobDamagedError, DestroyedKeyError, UnreadableError) as error:
        _log.error("files_unreadable", notification_id=work.pending.id, **why(error))
        return SkipStep(reason=FILES_UNREADABLE, result="FAILED")
    except BlobError as error:
        _log.warning("files_away", notification_id=work.pending.id, **why(error))
        return WaitStep(until=clock.now() + _AWAY, reason=FILES_AWAY)


def without_files(work: StepWork, instead: SkipStep | WaitStep) -> TraceLine:
    """The line of a step whose files can't be read, now or ever."""
    if isinstance(instead, WaitStep):
        return TraceLine("attachments", "defer", FILES_AWAY, instead.until, work.step)
    return TraceLine("attachments", "stop", FILES_UNREADABLE, None, work.step)


def left_out(channel: Channel, step: int, *, files: bool) -> tuple[TraceLine, ...]:
    """The line of a step whose channel can't carry the files that go along."""
    if not files or channel in WITH_FILES:
        return ()
    return (TraceLine("attachments", "pass", FILES_LEFT_OUT, None, step),)
