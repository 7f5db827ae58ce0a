"""Why this person did, or did not, get this: everything that is known, put together."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from datetime import datetime
from typing import Literal

from tidings.contracts.delivery import DeliveryRoute
from tidings.contracts.execution_history import ExecutionHistory, ExecutionRecord
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.kernel.clock import Clock
from tidings.kernel.db import CallerRole, Database, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.mapping import by_name
from tidings.notify.accept.row import NotificationRow
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.categories.registry import Categories
from tidings.notify.dispatch import store as dispatch_store
from tidings.notify.dispatch.dispatch_batch import routes_of
from tidings.notify.facts import store as facts_store
from tidings.notify.facts.model import Facts, TenantFacts
from tidings.notify.facts.store import PersonRow
from tidings.notify.notifications.explain_view import (
    ExplainedChoices,
    ExplainedConsent,
    ExplainedCosts,
    ExplainedDigest,
    ExplainedPolicy,
    ExplainedPreferences,
    ExplainedRoute,
    ExplainedTemplate,
    ExplainedTrigger,
    ExplainView,
    GateView,
)
from tidings.notify.notifications.progress import next_of, phase_of, repeated_perhaps, summary
from tidings.notify.notifications.timeline import timeline
from tidings.notify.notifications.trace import DeliveryTrace, load_trace
from tidings.notify.notifications.view import NotificationView, attempts_of
from tidings.notify.quiet_hours.quiet_until import quiet_until
from tidings.notify.recipients.model import NAME_PURPOSE
from tidings.notify.recipients.wire import opened
from tidings.notify.templates.model import Published
from tidings.notify.templates.resolve import TemplateResolver
from tidings.notify.tenants.model import zone_exists

_DEFAULT_LADDER = "default ladder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """What surrounds a notification, as it is now."""

    tenant: TenantFacts
    category: CategoryPolicy | None
    #: Who is written to; None where there is no such recipient any more.
    person: PersonRow | None
    recipient_id: RecipientId
    #: The frozen version; None where it is gone.
    published: Published | None
    #: The ladder as it would be now.
    routes: tuple[DeliveryRoute, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Explainer:
    """Explains notifications; a handful of statements each, and none of them depends on how much was ever sent."""

    db: Database
    _: KW_ONLY
    history: ExecutionHistory
    templates: TemplateResolver
    categories: Categories
    keyring: Keyring
    clock: Clock

    async def explain(
        self,
        tenant_id: TenantId,
        notification_id: NotificationId,
        *,
        role: CallerRole | None = None,
        with_names: bool = False,
    ) -> ExplainView:
        """The whole trace; an `UnknownNotificationError` where there is none. `with_names`: guardians by their names too."""
        categories = await self.categories.of(tenant_id)
        now = self.clock.now()
        async with self.db.tenant(tenant_id, caller_role=role) as tx:
            trace = await load_trace(tx, notification_id, history=self.history, keyring=self.keyring, now=now)
            reader = trace.reader_id
            tenant = await facts_store.load_tenant(tx)
            guardians = {RecipientId(by) for line in trace.lines if (by := line.by) and by.startswith("rcp_")}
            asked = [(tenant_id, one) for one in {reader, *guardians}]
            people = {who: row for (_, who), row in (await facts_store.load_people(tx, asked)).items()}
            if guardians and with_names:
                trace = replace(
                    trace, names=await self._names(tx, [people[g] for g in guardians & people.keys()])
                )
            pending = await dispatch_store.load_pending(tx, [notification_id])
        one = trace.notification
        # Outside the transaction: it may take a connection of its own.
        versions = await self.templates.versions(tenant_id, [one.template_version_id])
        facts = Facts(tenant=tenant, categories=categories, people={})
        return explanation(
            trace,
            Background(
                tenant=tenant,
                category=categories.get(one.category),
                person=people.get(reader),
                recipient_id=reader,
                published=versions.get(one.template_version_id),
                routes=_routes(pending.get(notification_id), facts),
            ),
            now,
        )

    async def _names(self, tx: TenantTx, people: Sequence[PersonRow]) -> dict[str, str]:
        keys = await self.keyring.data_keys(tx, [person.id for person in people], create=False)
        named = {
            str(person.id): opened(keys.get(person.id), person.display_name_ciphertext, NAME_PURPOSE)
            for person in people
        }
        return {id_: name for id_, name in named.items() if name is not None}


def explanation(trace: DeliveryTrace, background: Background, now: datetime) -> ExplainView:
    """The trace and what surrounds it, as they are told; pure."""
    trace = replace(trace, zone=_zone(background))
    phase = phase_of(trace, now)
    return ExplainView(
        summary=summary(trace, now),
        notification=NotificationView.told(trace, phase),
        phase=phase,
        next=next_of(trace, now),
        possibly_repeated=repeated_perhaps(trace),
        decision=[GateView.of(line, trace.held, trace.names, trace.nos) for line in trace.lines],
        timeline=timeline(trace),
        template=_template(trace, background),
        preferences=_preferences(trace, background, now),
        policy=_policy(trace, background),
        attempts=attempts_of(trace),
        digest=ExplainedDigest.of(trace),
        trigger=None if trace.firing is None else ExplainedTrigger.of(trace.firing),
    )


def _zone(background: Background) -> str | None:
    """The time zone of who is written to; None where there is no such recipient any more."""
    person = background.person
    if person is None:
        return None
    return person.timezone if zone_exists(person.timezone) else background.tenant.timezone


def _routes(pending: NotificationRow | None, facts: Facts) -> tuple[DeliveryRoute, ...]:
    return routes_of(pending, facts) if pending is not None else ()


def _template(trace: DeliveryTrace, background: Background) -> ExplainedTemplate:
    one, published = trace.notification, background.published
    snapshot = one.render_snapshot
    asked = one.locale or (background.person.locale if background.person is not None else None)
    locale: str | None = None
    direction: Literal["ltr", "rtl"] | None = None
    if snapshot is not None:
        locale, direction = snapshot.get("locale"), snapshot.get("direction")
    elif published is not None and asked is not None:
        content = published.content_for(asked)
        locale, direction = content.locale, content.direction
    return ExplainedTemplate(
        id=published.template.id if published is not None else None,
        key=one.template_key,
        version=one.template_semver,
        version_id=one.template_version_id,
        owner=None
        if published is None
        else ("platform" if published.template.tenant_id is None else "tenant"),
        locale_asked=asked,
        locale=locale,
        direction=direction,
        rendered=snapshot is not None,
        words_kept=one.body_ref is not None,
    )


def _preferences(trace: DeliveryTrace, background: Background, now: datetime) -> ExplainedPreferences:
    decided, person = trace.notification.preference_version, background.person
    current = person.preferences_version if person is not None else None
    return ExplainedPreferences(
        recipient_id=background.recipient_id,
        version_decided_by=decided,
        version_now=current,
        changed_since=decided is not None and current is not None and decided != current,
        now=_choices(person, background, now) if person is not None else None,
    )


def _choices(person: PersonRow, background: Background, now: datetime) -> ExplainedChoices:
    choices, tenant, category = person.choices, background.tenant, background.category
    zone = _zone(background) or tenant.timezone
    hours = tenant.policy.quiet_hours if choices.quiet_hours is None else choices.quiet_hours
    whose: Literal["recipient", "tenant"] = "tenant" if choices.quiet_hours is None else "recipient"
    consent, guardian = choices.marketing_consent, choices.guardian_routing
    return ExplainedChoices(
        locale=person.locale,
        timezone=zone,
        quiet_hours=list(hours),
        quiet_hours_of=whose if hours else "nobody",
        quiet_until=quiet_until(hours, zone, now),
        consent=ExplainedConsent(granted=consent.granted, at=consent.at, source=consent.source),
        category_needs_consent=category is not None and category.needs_consent,
        category_can_be_declined=category is not None and category.can_unsubscribe,
        channels=dict(choices.channels),
        unsubscribed_from_all_at=choices.global_unsubscribed_at,
        guardian_id=guardian.guardian_id if guardian is not None else None,
        guardian_mode=guardian.mode if guardian is not None else None,
    )


def _policy(trace: DeliveryTrace, background: Background) -> ExplainedPolicy:
    ladder = trace.executions[-1] if trace.executions else None
    policy_id = ladder.policy_id if ladder is not None else None
    return ExplainedPolicy(
        tenant_version=background.tenant.version,
        id=policy_id,
        version=ladder.policy_version if ladder is not None else None,
        name=policy_id or _DEFAULT_LADDER,
        strategy=ladder.strategy if ladder is not None else None,
        routes=_ladder(ladder)
        if ladder is not None
        else [
            ExplainedRoute(step=step, channel=route.channel, vendor=route.vendor)
            for step, route in enumerate(background.routes, 1)
        ],
        frozen=ladder is not None,
        order=ladder.order if ladder is not None else None,
        costs=_costs(ladder) if ladder is not None else None,
    )


def _ladder(ladder: ExecutionRecord) -> list[ExplainedRoute]:
    return [
        by_name(
            ExplainedRoute,
            step,
            step=place,
            vendor=" or ".join(step.vendors),
            drawn=step.drawn if step.probability is not None else None,
        )
        for place, step in enumerate(ladder.steps, 1)
    ]


def _costs(ladder: ExecutionRecord) -> ExplainedCosts:
    return ExplainedCosts(
        spent_micros=ladder.cost_spent_micros,
        reserved_micros=ladder.cost_reserved_micros,
        cap_micros=ladder.cost_cap_micros,
        currency=ladder.cost_currency,
    )
