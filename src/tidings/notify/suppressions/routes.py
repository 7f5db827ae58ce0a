"""Operations on a tenant's suppressions."""

from tidings.contracts.ids import NotificationId
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Answer, Reply
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import OpenTx
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.refusals import MissingScopeError
from tidings.notify.ids import SuppressionId
from tidings.notify.suppressions import store
from tidings.notify.suppressions.counts import read_counts
from tidings.notify.suppressions.errors import UnknownSuppressionError
from tidings.notify.suppressions.export import export_lines
from tidings.notify.suppressions.model import SEALED_FOR, Suppression, SuppressionSpec
from tidings.notify.suppressions.suppress import Suppressor
from tidings.notify.suppressions.wire import (
    CreateSuppression,
    ExportSuppressionsQuery,
    FoundSuppressions,
    History,
    ListSuppressions,
    LookUpSuppressions,
    ReleasedSuppressions,
    ReleaseQuery,
    ReleaseSuppressions,
    SuppressionStats,
    SuppressionView,
    filter_of,
)

suppressions = Resource("suppressions", at="/suppressions", tag="suppressions", scope="suppressions")

_REVEAL = "suppressions:write"


@suppressions.post(
    status=201,
    also={200: SuppressionView},
    example={"channel": "email", "address": "no-more@example.test", "reason": "manual"},
)
async def add_suppression(
    tx: TenantTx,
    body: CreateSuppression,
    caller: Caller,
    suppressor: Suppressor,
    keyring: Keyring,
    clock: Clock,
) -> Answer[SuppressionView]:
    """Suppress an address: nothing is sent to it any more.

    `200` where it was suppressed before: that one stays, and lasts as long as the longer of the two.
    """
    spec = body.spec(clock.now())
    await _refuse_foreign_source(tx, spec)
    [done] = await suppressor.add(tx, [spec], actor=caller.actor)
    view = SuppressionView.of(done.suppression, await _key(tx, keyring))
    return Answer(view, status=201 if done.created else 200)


@suppressions.get()
async def list_suppressions(
    tx: TenantTx, query: ListSuppressions, paging: Paging, keyring: Keyring, clock: Clock
) -> Page[SuppressionView]:
    """List suppressions, the newest first."""
    found = await store.list_suppressions(
        tx, filter_of(query), after_id=paging.after_id, now=clock.now(), limit=paging.fetch
    )
    key = await _key(tx, keyring)
    return paging.page(found, lambda suppression: SuppressionView.of(suppression, key))


@suppressions.post("/lookup", writes=False)
async def look_up_suppressions(
    tx: TenantTx, body: LookUpSuppressions, caller: Caller, suppressor: Suppressor, keyring: Keyring
) -> FoundSuppressions:
    """Find the suppressions of an address, released ones too.

    Those of the address and of its whole mail domain; in force first, then the newest. Audited: who asked, and the
    hash of the address.
    """
    found = await suppressor.look_up(tx, channel=body.channel, address=body.address, actor=caller.actor)
    key = await _key(tx, keyring)
    return FoundSuppressions(items=[SuppressionView.of(one, key) for one in found])


@suppressions.post("/release", verb="release-many", attested="suppression.release_many")
async def release_suppressions(
    tx: TenantTx, body: ReleaseSuppressions, caller: Caller, suppressor: Suppressor
) -> ReleasedSuppressions:
    """Release many suppressions at once: their addresses may be written to again.

    At most 500. Those that were released before are passed over. Each is audited.
    """
    ids = body.named()
    released = await suppressor.release_many(tx, ids, actor=caller.actor, reason=body.reason)
    return ReleasedSuppressions(released=released, passed_over=len(ids) - released)


@suppressions.get("/stats", name="suppression_stats")
@suppressions.get(
    "/stats",
    name="suppression_stats_of_tenant",
    owner=Owner.NAMED_TENANT,
    summary="How many suppressions of a tenant are in force, to compare with another service's total.",
    description="",
)
async def show_stats(tx: TenantTx) -> SuppressionStats:
    """How many suppressions are in force, by channel and reason.

    From counts that are kept with every change; nothing is scanned.
    """
    return SuppressionStats.of(await read_counts(tx))


@suppressions.get("/export", media_type="text/csv")
async def export_suppressions(
    open_tx: OpenTx[TenantTx],
    query: ExportSuppressionsQuery,
    caller: Caller,
    suppressor: Suppressor,
    keyring: Keyring,
    clock: Clock,
) -> Reply:
    """All suppressions as a CSV, the oldest first.

    Addresses are hints; `reveal=true` shows them, needs `suppressions:write` and is audited. Such a file can be
    imported again.
    """
    if query.reveal == "true":
        if _REVEAL not in caller.scopes:
            raise MissingScopeError(_REVEAL)
        async with open_tx() as tx:
            await suppressor.note_export(tx, actor=caller.actor, channel=query.channel)
    lines = export_lines(open_tx, query, keyring=keyring, clock=clock)
    named = 'attachment; filename="suppressions.csv"'
    return Reply(body=lines, media_type="text/csv", headers={"Content-Disposition": named})


@suppressions.get("/{suppression_id}", problems=["suppression_not_found"])
async def show_suppression(tx: TenantTx, suppression_id: SuppressionId, keyring: Keyring) -> SuppressionView:
    """Show a suppression."""
    return SuppressionView.of(await _known(tx, suppression_id), await _key(tx, keyring))


@suppressions.get("/{suppression_id}/history", problems=["suppression_not_found"])
async def show_history(tx: TenantTx, suppression_id: SuppressionId, audit: AuditLog) -> History:
    """What happened to a suppression: who added it, who released it, when and why."""
    known = await _known(tx, suppression_id)
    return History.of(known, await audit.read_recent(tx, entity_type="suppression", entity_id=suppression_id))


@suppressions.delete("/{suppression_id}", problems=["suppression_not_found", "suppression_released"])
async def release_suppression(
    tx: TenantTx, suppression_id: SuppressionId, query: ReleaseQuery, caller: Caller, suppressor: Suppressor
) -> None:
    """Release a suppression: the address may be written to again.

    The row stays, with who released it and when.
    """
    await suppressor.release(tx, suppression_id, actor=caller.actor, reason=query.reason)


async def _key(tx: TenantTx, keyring: Keyring) -> DataKey | None:
    return (await keyring.data_keys(tx, [SEALED_FOR], create=False)).get(SEALED_FOR)


async def _known(tx: TenantTx, suppression_id: SuppressionId) -> Suppression:
    found = await store.find_suppression(tx, suppression_id)
    if found is None:
        raise UnknownSuppressionError(f"there is no suppression with the id {suppression_id}")
    return found


async def _refuse_foreign_source(tx: TenantTx, spec: SuppressionSpec) -> None:
    """A suppression names a notification of the tenant's own, or none."""
    source = spec.source_notification_id
    if source is not None and not await store.notification_exists(tx, NotificationId(source)):
        raise BadValueError("source_notification_id", "must be a notification of yours that is still kept")
