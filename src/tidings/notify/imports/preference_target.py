"""Preferences out of a file: each row what a known recipient chose, merged into what they chose before.

A set takes a bounded number of statements. Every yes and no goes into the ledger of consent as it does by any other
way, with the import as its source; the audit has one line for the import as a whole.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec
from msgspec import UnsetType, structs

from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.ids import RECIPIENT, RecipientId
from tidings.contracts.recipients import PreferenceOptOutRecorded, PreferencesUpdated
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.events import Event, new_event
from tidings.kernel.http.field_errors import explain
from tidings.kernel.outbox import Outbox
from tidings.kernel.refusals import FieldError
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.digest_windows.replan import replan_digests
from tidings.notify.imports.errors import UnreadableFileError
from tidings.notify.imports.model import ImportedRow, LineCounts, LineProblem
from tidings.notify.imports.preference_rows import ImportedPreferences, nested, read, strange_columns
from tidings.notify.imports.rows import RowReader
from tidings.notify.imports.target import Author, WriteResult
from tidings.notify.quiet_hours.reconsider import reconsider_quiet
from tidings.notify.recipients import consent_store, preference_store, store
from tidings.notify.recipients.change_preferences import changes_wrong, digests_differ, quiet_differs
from tidings.notify.recipients.consent import settle
from tidings.notify.recipients.consent_ledger import lines_of, payloads_of
from tidings.notify.recipients.preferences_model import Choices, Preferences, nothing_chosen, same_choices
from tidings.notify.recipients.recipient_input import canonical_locale
from tidings.notify.tenants.store import find_tenant

_SOURCE = "import"
_FIELDS = frozenset(ImportedPreferences.__struct_fields__)


@dataclass(slots=True)
class _Change:
    """One recipient's preferences over a set."""

    before: Preferences
    choices: Choices


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class PreferenceTarget:
    """Reads rows of preferences and writes them, a set at a time."""

    categories: Mapping[str, CategoryPolicy]
    outbox: Outbox
    clock: Clock
    emit_events: bool
    _jsonl: bool = field(init=False, default=False)

    def begin(self, reader: RowReader) -> str:
        """Refuse headings that mean nothing: a typing mistake must not lose a recipient's no."""
        self._jsonl = reader.form == "jsonl"
        if self._jsonl:
            return "json lines"
        if strange := strange_columns(reader.header):
            raise UnreadableFileError(
                f"has headings that mean nothing here, in column {', '.join(map(str, strange[:10]))}; known are "
                "id, identity_type, identity_id, locale, timezone, global_unsubscribed_at, "
                "channels.<channel>.allow, channels.<channel>.categories.<category> and "
                "marketing_consent.granted, .source, .evidence, .at"
            )
        if not {"id", "identity_id"} & set(reader.header):
            raise UnreadableFileError(
                "must say who it is about: a column id, or identity_type and identity_id"
            )
        return "csv"

    def check(self, row: ImportedRow) -> ImportedPreferences | list[LineProblem]:
        """The spec, or all that is wrong with the row by itself."""
        values = dict(row.values) if self._jsonl else nested(row.values)
        try:
            found = read(values)
            if not isinstance(found.id, UnsetType):
                RECIPIENT.parse(found.id)
            elif isinstance(found.identity, UnsetType) or found.identity.id is None:
                return [
                    LineProblem(row.line, "id", "missing_value", "must say who it is: an id or an identity")
                ]
        except msgspec.ValidationError as error:
            faults = explain(values, ImportedPreferences, error)
        except BadValueError as error:
            faults = [FieldError(error.field, error.remedy)]
        else:
            return found
        return [LineProblem(row.line, _column(fault.field), "bad_value", fault.remedy) for fault in faults]

    def about(self, spec: Any) -> str | None:  # noqa: ARG002
        """A second line about the same person may say something else."""
        return None

    async def write(self, tx: TenantTx, specs: Sequence[tuple[int, Any]], by: Author) -> WriteResult:
        """Those who are known, locked, merged and written; who is not known is reported."""
        now = self.clock.now()
        people = await _people(tx, [spec for _, spec in specs])
        ids = sorted(set(people.values()))
        locked = await store.lock_recipients(tx, ids=ids) if ids else {}
        known = await preference_store.load_preferences(tx, recipient_ids=ids) if ids else {}
        tenant = await find_tenant(tx, tenant_id=tx.tenant_id)
        confirms = tenant is not None and tenant.notification_policy.double_opt_in
        changes: dict[RecipientId, _Change] = {}
        problems: list[LineProblem] = []
        unchanged = 0
        for place, (line, spec) in enumerate(specs):
            recipient = locked.get(people.get(place, RecipientId("")))
            if recipient is None or recipient.erased_at is not None:
                problems.append(
                    LineProblem(line, "", "recipient_not_found", "names nobody who is known here")
                )
                continue
            before = known.get(recipient.id) or nothing_chosen(recipient.id)
            change = changes.get(recipient.id) or _Change(before, before.choices)
            wanted, wrong = self._merged(change.choices, spec, now=now, confirms=confirms)
            problems += [
                LineProblem(line, _column(fault.field), "bad_value", fault.remedy) for fault in wrong
            ]
            if wrong:
                continue
            if same_choices(wanted, change.choices):
                unchanged += 1
                continue
            unchanged += recipient.id in changes
            change.choices = wanted
            changes[recipient.id] = change
        await self._record(tx, list(changes.values()), by, now)
        awake = [
            id_ for id_, change in changes.items() if quiet_differs(change.before.choices, change.choices)
        ]
        if awake:
            await reconsider_quiet(tx, awake, now=now)
        gathered = [
            id_ for id_, change in changes.items() if digests_differ(change.before.choices, change.choices)
        ]
        if gathered:
            await replan_digests(tx, gathered, now=now)
        added = sum(change.before.id is None for change in changes.values())
        return WriteResult(
            tally=LineCounts(added=added, changed=len(changes) - added, unchanged=unchanged),
            problems=problems,
        )

    def _merged(
        self, present: Choices, spec: ImportedPreferences, *, now: datetime, confirms: bool
    ) -> tuple[Choices, list[FieldError]]:
        wanted = spec.over(present)
        wrong = changes_wrong(present, wanted, self.categories)
        consent, faults = settle(
            present.marketing_consent, wanted.marketing_consent, now=now, at="marketing_consent"
        )
        wrong += faults
        if confirms and consent.granted and not present.marketing_consent.granted and not consent.evidence:
            # No mail asks for confirmation for each line of a file; what was confirmed elsewhere can be shown.
            wrong.append(
                FieldError(
                    "marketing_consent.evidence", "is required: this tenant wants consent to be confirmed"
                )
            )
        locale = None if wanted.locale is None else canonical_locale(wanted.locale)
        return structs.replace(wanted, marketing_consent=consent, locale=locale), wrong

    async def _record(self, tx: TenantTx, changes: Sequence[_Change], by: Author, now: datetime) -> None:
        if not changes:
            return
        saved = [change.before.changed(change.choices, now) for change in changes]
        await preference_store.save_preferences(tx, saved, now=now)
        lines = [
            line
            for change, after in zip(changes, saved, strict=True)
            for line in lines_of(
                change.before, after, source=_SOURCE, evidence=by.import_id, actor=by.actor, now=now
            )
        ]
        await consent_store.append_events(tx, lines)
        if self.emit_events:
            await self.outbox.append(tx, self._events(tx, payloads_of(saved, lines)))

    def _events(
        self, tx: TenantTx, payloads: Sequence[tuple[str, PreferencesUpdated | PreferenceOptOutRecorded]]
    ) -> list[Event]:
        return [
            new_event(
                subject,
                payload,
                tenant_id=tx.tenant_id,
                ordering_key=payload.recipient_id,
                source=NOTIFY_SOURCE,
                clock=self.clock,
            )
            for subject, payload in payloads
        ]


async def _people(tx: TenantTx, specs: Sequence[ImportedPreferences]) -> dict[int, RecipientId]:
    lookup = store.Lookup()
    for place, spec in enumerate(specs):
        if not isinstance(spec.id, UnsetType):
            lookup.ids.append((place, tx.tenant_id, RecipientId(spec.id)))
        elif not isinstance(spec.identity, UnsetType):
            lookup.identities.append((place, tx.tenant_id, spec.identity.type.value, spec.identity.id or ""))
    found = await store.match_recipients(tx, lookup)
    return {place: known.recipient.id for place, known in found.known.items()}


def _column(field: str) -> str:
    """The field, where it is one of ours: the names in a file may hold anything."""
    first = field.partition(".")[0].partition("[")[0]
    return field.replace("identity.", "identity_") if first in _FIELDS else ""
