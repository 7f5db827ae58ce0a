"""A recipient's preferences change: checked whole, one version at a time, told and audited in one transaction."""

from collections.abc import Callable, Mapping

from msgspec import structs

from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.ids import RECIPIENT, RecipientId
from tidings.contracts.recipients import ConsentRequested, PreferenceOptOutRecorded, PreferencesUpdated
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.events import Event, new_event
from tidings.kernel.ids import TenantId
from tidings.kernel.outbox import Outbox
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.kernel.tracing import current_traceparent
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.digest_windows.replan import replan_digests
from tidings.notify.digest_windows.schedule import schedule_faults
from tidings.notify.quiet_hours.reconsider import reconsider_quiet
from tidings.notify.recipients import consent_store, preference_store, store
from tidings.notify.recipients.consent import settle
from tidings.notify.recipients.consent_ledger import allowed_by, lines_of, payloads_of, told_between
from tidings.notify.recipients.errors import ErasedRecipientError, UnknownRecipientError
from tidings.notify.recipients.preferences_model import (
    Choices,
    GuardianRouting,
    Preferences,
    categories_named,
    nothing_chosen,
    same_choices,
)
from tidings.notify.recipients.recipient_input import canonical_locale
from tidings.notify.refusals.refuse import Refuser
from tidings.notify.tenants.locales import UNKNOWN_LOCALE, locale_exists
from tidings.notify.tenants.model import zone_exists
from tidings.notify.tenants.store import find_tenant

#: The source of what the API changes, where a consent names none of its own.
API_SOURCE = "api"
_ZONE = "must be an IANA time zone such as Asia/Kabul"


class PreferenceChanger:
    """Writes preferences."""

    def __init__(self, *, outbox: Outbox, audit: AuditLog, clock: Clock) -> None:
        self._outbox = outbox
        self._audit = audit
        self._clock = clock
        self._refuser = Refuser(outbox=outbox, audit=audit, clock=clock)

    async def change(
        self,
        tx: TenantTx,
        recipient_id: RecipientId,
        make: Callable[[Preferences], Choices],
        *,
        categories: Mapping[str, CategoryPolicy],
        actor: str,
        source: str = API_SOURCE,
        evidence: str | None = None,
        proven: bool = False,
    ) -> Preferences:
        """The preferences after the choices that `make` gives for the present ones.

        `source` and `evidence` are how the recipient said so, for the ledger; a consent that names its own keeps that.
        `proven`: it is the person themself who chooses, by a link that was sent to them; a consent of theirs needs no
        further confirmation. The recipient's row is locked first: of two changes from one version, the second sees another.
        """
        recipient = (await store.lock_recipients(tx, ids=[recipient_id])).get(recipient_id)
        if recipient is None:
            raise UnknownRecipientError(f"there is no recipient with the id {recipient_id}")
        if recipient.erased_at is not None:
            raise ErasedRecipientError
        known = await preference_store.load_preferences(tx, recipient_ids=[recipient_id])
        before = known.get(recipient_id) or nothing_chosen(recipient_id)
        wanted = await self._checked(tx, before, make(before), categories, proven=proven)
        if before.id is not None and same_choices(wanted, before.choices):
            return before
        after = await self._record(tx, before, wanted, actor=actor, source=source, evidence=evidence)
        if quiet_differs(before.choices, wanted):
            await reconsider_quiet(tx, [recipient_id], now=self._clock.now())
        if digests_differ(before.choices, wanted):
            await replan_digests(tx, [recipient_id], now=self._clock.now())
        if not proven:
            # Who chooses by a link speaks for the address that it was sent to; the page sees to that.
            await self._refuser.allow_recipient(
                tx,
                recipient_id,
                allowed_by(
                    told_between(before.choices, wanted),
                    needing_consent=[name for name, policy in categories.items() if policy.needs_consent],
                ),
                source=source,
                actor=actor,
            )
        return after

    async def _checked(
        self,
        tx: TenantTx,
        before: Preferences,
        wanted: Choices,
        categories: Mapping[str, CategoryPolicy],
        *,
        proven: bool,
    ) -> Choices:
        now = self._clock.now()
        wrong = changes_wrong(before.choices, wanted, categories)
        present = before.choices.marketing_consent
        confirm = (
            wanted.marketing_consent.granted and not present.granted and not proven and await _confirms(tx)
        )
        consent, faults = settle(
            present, wanted.marketing_consent, now=now, at="marketing_consent", confirm=confirm
        )
        wrong += faults
        guardian = before.choices.guardian_routing
        if wanted.guardian_routing is not None and (
            guardian is None or guardian.guardian_id != wanted.guardian_routing.guardian_id
        ):
            wrong += await _guardian_wrong(tx, before.recipient_id, wanted.guardian_routing)
        if wrong:
            raise InvalidError(wrong)
        locale = None if wanted.locale is None else canonical_locale(wanted.locale)
        return structs.replace(wanted, marketing_consent=consent, locale=locale)

    async def _record(
        self,
        tx: TenantTx,
        before: Preferences,
        wanted: Choices,
        *,
        actor: str,
        source: str,
        evidence: str | None,
    ) -> Preferences:
        now = self._clock.now()
        after = before.changed(wanted, now)
        await preference_store.save_preferences(tx, [after], now=now)
        lines = lines_of(before, after, source=source, evidence=evidence, actor=actor, now=now)
        await consent_store.append_events(tx, lines)
        events = [
            self._event(tx.tenant_id, subject, payload) for subject, payload in payloads_of([after], lines)
        ]
        pending = wanted.marketing_consent.pending_since
        if pending is not None and pending != before.choices.marketing_consent.pending_since:
            requested = ConsentRequested(
                recipient_id=before.recipient_id, requested_at=pending, preferences_version=after.version
            )
            events.append(self._event(tx.tenant_id, "consent.requested.v1", requested))
        await self._outbox.append(tx, events)
        entry = Entry(
            entity_type="preferences",
            entity_id=before.recipient_id,
            action="updated",
            actor=actor,
            before=before.choices if before.id else None,
            after=wanted,
        )
        await self._audit.append(tx, [entry])
        return after

    def _event(
        self,
        tenant_id: TenantId,
        subject: str,
        payload: PreferencesUpdated | PreferenceOptOutRecorded | ConsentRequested,
    ) -> Event:
        return new_event(
            subject,
            payload,
            tenant_id=tenant_id,
            ordering_key=payload.recipient_id,
            source=NOTIFY_SOURCE,
            clock=self._clock,
            traceparent=current_traceparent(),
        )


def choices_wrong(wanted: Choices, categories: Mapping[str, CategoryPolicy]) -> list[FieldError]:
    """What the types can't say: locales and zones exist, hours last, categories are known."""
    wrong: list[FieldError] = []
    if wanted.locale is not None and not locale_exists(wanted.locale):
        wrong.append(FieldError("locale", UNKNOWN_LOCALE))
    if wanted.timezone is not None and not zone_exists(wanted.timezone):
        wrong.append(FieldError("timezone", _ZONE))
    for i, hours in enumerate(wanted.quiet_hours or ()):
        if hours.timezone is not None and not zone_exists(hours.timezone):
            wrong.append(FieldError(f"quiet_hours[{i}].timezone", _ZONE))
        if hours.start == hours.end:
            wrong.append(FieldError(f"quiet_hours[{i}].end", "must differ from start"))
        if len(set(hours.days)) != len(hours.days):
            wrong.append(FieldError(f"quiet_hours[{i}].days", "must name each day once"))
    names = ", ".join(sorted(categories))
    for category, field in categories_named(wanted).items():
        if category not in categories:
            wrong.append(FieldError(field, f"is not a known category; there are {names}"))
    return wrong


def changes_wrong(
    before: Choices, wanted: Choices, categories: Mapping[str, CategoryPolicy]
) -> list[FieldError]:
    """What a change does wrong.

    What stood there before may stay: a category that went, or a guardian, must keep no recipient from saying no.
    """
    stood = set(choices_wrong(before, categories))
    wrong = [fault for fault in choices_wrong(wanted, categories) if fault not in stood]
    return wrong + digests_wrong(before, wanted, categories)


def quiet_differs(one: Choices, other: Choices) -> bool:
    """Whether the quiet hours of the two differ."""
    return (one.quiet_hours, one.timezone) != (other.quiet_hours, other.timezone)


def digests_differ(one: Choices, other: Choices) -> bool:
    """Whether the digests of the two may come at other times."""
    return (dict(one.digest_schedule), one.timezone) != (dict(other.digest_schedule), other.timezone)


def digests_wrong(
    before: Choices, wanted: Choices, categories: Mapping[str, CategoryPolicy]
) -> list[FieldError]:
    """Schedules that could not act; what stood there before may stay."""
    return [
        fault
        for name, choice in wanted.digest_schedule.items()
        if before.digest_schedule.get(name) != choice and (policy := categories.get(name)) is not None
        for fault in schedule_faults(
            choice,
            at=f"digest_schedule.{name}",
            may_digest=policy.may_digest,
            expires_after=policy.default_expiry_seconds,
        )
    ]


async def _confirms(tx: TenantTx) -> bool:
    """Whether the tenant wants consent to be confirmed by those who gave it."""
    tenant = await find_tenant(tx, tenant_id=tx.tenant_id)
    return tenant is not None and tenant.notification_policy.double_opt_in


async def _guardian_wrong(
    tx: TenantTx, recipient_id: RecipientId, routing: GuardianRouting
) -> list[FieldError]:
    field = "guardian_routing.guardian_id"
    try:
        guardian_id = RECIPIENT.parse(routing.guardian_id, field=field)
    except BadValueError as error:
        return [FieldError(error.field, error.remedy)]
    if guardian_id == recipient_id:
        return [FieldError(field, "must be somebody else")]
    guardian = (await store.find_recipients(tx, ids=[guardian_id])).get(guardian_id)
    if guardian is None or guardian.erased_at is not None:
        return [FieldError(field, "must be a recipient that is known here")]
    return []
