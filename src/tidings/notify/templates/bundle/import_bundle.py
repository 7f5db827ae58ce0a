"""The use case "take these files": a draft for every folder, all of them or none.

A zip of a thousand folders takes as many statements as one of a single folder: what is there is read and held as a
set, what becomes of each folder is decided in memory, and what is new is written as a set. A trial is the same work in
a transaction that is undone: what it reports is what would happen. The validator looks at the drafts when the
transaction is over; what it finds stands in the way of publishing, not of taking.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tidings.contracts.templates import TemplateFinding
from tidings.contracts.tenants import Channel
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.refusals import InvalidError
from tidings.notify.categories.store import load_categories
from tidings.notify.templates import assets_store, layouts_store, store
from tidings.notify.templates.authoring import TenantAuthoring
from tidings.notify.templates.bundle.check import SECONDS, check_drafts
from tidings.notify.templates.bundle.errors import BundleRefusedError
from tidings.notify.templates.bundle.findings import error
from tidings.notify.templates.bundle.layout import folder_of, layout_file
from tidings.notify.templates.bundle.plan import PlannedDraft, plan
from tidings.notify.templates.bundle.read import ReadBundle, ReadTemplate, refused
from tidings.notify.templates.bundle.store import LockedTemplate, lock_templates
from tidings.notify.templates.create_version import category_fault, new_template
from tidings.notify.templates.model import TemplateName, VersionStatus
from tidings.notify.templates.read_version import Begin, ReadVersion, all_in_surroundings

_Place = tuple[str, Channel]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """What became of them all."""

    taken: Sequence[PlannedDraft]
    #: What was found while they were taken; an error here refuses them all.
    findings: Sequence[TemplateFinding]
    #: What the validator found; an error here stands in the way of publishing.
    checked: Sequence[TemplateFinding]
    #: How many drafts the validator did not reach.
    unreached: int = 0


class _UndoError(Exception):
    """Ends a transaction whose work is not to stay."""


async def import_bundle(
    begin: Begin,
    read: ReadBundle,
    *,
    dry_run: bool,
    actor: str,
    own_hosts: Sequence[str],
    engine: TenantAuthoring,
    audit: AuditLog,
    clock: Clock,
    seconds: float = SECONDS,
) -> ImportResult:
    """What became of each template; a `BundleRefusedError` with everything that is wrong, and nothing written.

    A trial refuses nothing: it has the same findings in its answer. `seconds`: how long the validator may take.
    """
    taken: list[PlannedDraft] = []
    findings = list(read.findings)
    drafts: list[ReadVersion] = []
    try:
        async with begin() as tx:
            # Held before the first line of the audit: who publishes holds a template and waits for that.
            held = await lock_templates(tx, [_place(one) for one in read.templates])
            wrong, entries = await _take_layouts(tx, read, actor=actor, now=clock.now())
            found, refusals = await _plans(tx, read.templates, held, actor=actor, now=clock.now())
            taken += found
            findings += [*wrong, *refusals]
            _undo_if(_has_errors(findings) and not dry_run)
            await _write(tx, taken, actor=actor, now=clock.now())
            entries += [one.entry(actor) for one in taken if one.outcome != "unchanged"]
            await audit.append(tx, entries)
            fresh = [
                (one.template, one.version) for one in taken if one.version.status is VersionStatus.DRAFT
            ]
            drafts += await all_in_surroundings(tx, fresh, own_hosts=own_hosts)
            _undo_if(dry_run)
    except _UndoError:
        if not dry_run:
            raise BundleRefusedError(findings) from None
    checked = await check_drafts(drafts, engine=engine, clock=clock, seconds=seconds)
    return ImportResult(taken=taken, findings=findings, checked=checked.findings, unreached=checked.unreached)


async def _take_layouts(
    tx: store.Side, read: ReadBundle, *, actor: str, now: datetime
) -> tuple[list[TemplateFinding], list[Entry]]:
    """What is wrong with them, and what the audit is to say."""
    if not read.layouts:
        return [], []
    if not isinstance(tx, TenantTx):
        what, how = "is a layout, and the platform has none", "take it out, or use a partial"
        return [error(layout_file(name), what, how) for name in read.layouts], []
    known = {layout.name: layout.text for layout in await layouts_store.list_layouts(tx)}
    changed = {name: text for name, text in read.layouts.items() if known.get(name) != text}
    if len(known.keys() | changed.keys()) > layouts_store.MOST:
        what = f"is one of more than {layouts_store.MOST} layouts, with those that are here already"
        new = sorted(changed.keys() - known.keys())
        return [error(layout_file(name), what, "take some out") for name in new], []
    if changed:
        await layouts_store.put_layouts(tx, changed, actor=actor, now=now)
    entries = [
        Entry("layout", name, "changed" if name in known else "created", actor) for name in sorted(changed)
    ]
    return [], entries


async def _plans(
    tx: store.Side,
    templates: Sequence[ReadTemplate],
    held: dict[_Place, LockedTemplate],
    *,
    actor: str,
    now: datetime,
) -> tuple[list[PlannedDraft], list[TemplateFinding]]:
    """What becomes of each, and everything that is wrong with the others, in the order of the folders."""
    missing = [wanted for wanted in templates if _place(wanted) not in held]
    wrong = await _add_templates(tx, missing, held, actor=actor, now=now)
    # Read when all of them are held: who sent the same just before us has ended, and can be compared with.
    asked = [
        (held[_place(wanted)].template.id, str(wanted.spec.semver))
        for wanted in templates
        if _place(wanted) in held
    ]
    there = await store.find_versions(tx, asked) if asked else {}
    taken: list[PlannedDraft] = []
    findings: list[TemplateFinding] = []
    for wanted in templates:
        place = _place(wanted)
        if place in wrong:
            findings += refused(folder_of(*place), wanted.formats, wrong[place])
            continue
        known = there.get((held[place].template.id, str(wanted.spec.semver)))
        result = plan(wanted, held[place], known, actor=actor, now=now)
        if isinstance(result, PlannedDraft):
            taken.append(result)
        else:
            findings += result
    return taken, findings


async def _add_templates(
    tx: store.Side,
    missing: Sequence[ReadTemplate],
    held: dict[_Place, LockedTemplate],
    *,
    actor: str,
    now: datetime,
) -> dict[_Place, InvalidError]:
    """Add those that can be, and hold them with the others; why the rest can't."""
    if not missing:
        return {}
    categories = await load_categories(tx)
    wrong: dict[_Place, InvalidError] = {}
    fresh: list[store.NewTemplate] = []
    for wanted in missing:
        try:
            made = new_template(TemplateName(wanted.key, wanted.channel), wanted.spec, now=now)
        except InvalidError as invalid:
            wrong[_place(wanted)] = invalid
            continue
        if fault := category_fault(made.category, categories):
            wrong[_place(wanted)] = InvalidError([fault])
        else:
            fresh.append(made)
    if fresh:
        await store.add_templates(tx, fresh, created_by=actor, now=now)
        # Another request may have added one of them in between: what counts is what is there.
        held |= await lock_templates(tx, [(one.key, one.channel) for one in fresh])
    return wrong


async def _write(tx: store.Side, taken: Sequence[PlannedDraft], *, actor: str, now: datetime) -> None:
    created = [one.version for one in taken if one.outcome == "created"]
    replaced = [one.version for one in taken if one.outcome == "replaced"]
    if created:
        await store.add_versions(tx, created, created_by=actor, now=now)
    if replaced:
        await store.change_drafts(tx, replaced, now=now)
    await assets_store.delete_assets(
        tx, [(one.version.id, name) for one in taken for name in one.gone_assets]
    )
    await assets_store.put_assets(
        tx, [(one.version.id, asset) for one in taken for asset in one.fresh_assets], now=now
    )


def _place(wanted: ReadTemplate) -> _Place:
    return wanted.key, wanted.channel


def _undo_if(wanted: bool) -> None:  # noqa: FBT001
    if wanted:
        raise _UndoError


def _has_errors(findings: Sequence[TemplateFinding]) -> bool:
    return any(found.severity == "error" for found in findings)
