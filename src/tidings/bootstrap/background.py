"""What runs beside the API: relays, consumers, the dispatcher, sweepers."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from tidings.kernel.audit.anchor import AnchorJob, AnchorKeeper
from tidings.kernel.bus import Subscription
from tidings.kernel.deduplicate import ConsumedEvents
from tidings.kernel.durable.jobs import Job
from tidings.kernel.durable.sweepers import SweepJob
from tidings.kernel.flags.flags import FLAGS_CHANNEL, FLAGS_PAYLOAD, FlagsJob
from tidings.notify.channels.rotate import revoke_superseded
from tidings.notify.dispatch.exact_bodies_sweep import BodySweeper
from tidings.notify.dispatch.schedule import sweep_done as sweep_schedule
from tidings.notify.erasure import consumer as erasure_consumer
from tidings.notify.imports.sweep import sweep_imports
from tidings.notify.notifications.store import sweep_ledger as sweep_dedup_ledger
from tidings.notify.preference_center.store import sweep_tokens
from tidings.notify.receipts.sweep import sweep_receipts
from tidings.notify.suppressions.counts import fold_counts
from tidings.notify.suppressions.expire import expire_suppressions
from tidings.notify.templates.resolve import (
    TEMPLATES_CHANNEL,
    TEMPLATES_PAYLOAD,
    TemplatesJob,
)
from tidings.notify.tenants import consumer as tenants_consumer
from tidings.notify.tenants import provision as tenants_provision
from tidings.router.callbacks import forget as callbacks_forget
from tidings.router.callbacks import sweep as callbacks_sweep
from tidings.router.executions.answers import AnswerSweeper
from tidings.router.executions.sweep import sweep_ledgers
from tidings.router.profiles import engagement
from tidings.router.status_map.sweep import sweep_unknown

if TYPE_CHECKING:
    from tidings.bootstrap.system import System

_SERVICES = ("notification", "chan", "bff_backoffice")
#: The services that note which events they have applied.
_LEDGERS = ("notification", "chan")


def api_jobs(system: "System") -> Mapping[str, Job]:
    """What keeps up this process' own affairs: its token with Vault, the keys that were used here."""
    return {
        **({"vault": system.vault} if system.vault is not None else {}),
        "last_used": system.last_used,
    }


def jobs(system: "System") -> Mapping[str, Job]:
    """All of them, by name; any number of processes may run them at once."""
    bus = system.bus
    bodies = BodySweeper(system.db, lambda: system.blobs, system.clock)
    body_eraser = callbacks_forget.BodyEraser(system.db, system.clock)
    return {
        "bus": bus,
        **{f"relay_{schema}": bus.relay(schema) for schema in _SERVICES},
        "tenants": bus.consumer(
            Subscription(
                group=tenants_consumer.GROUP,
                subjects=tenants_consumer.SUBJECTS,
                ledger="notification",
                on_platform_events=tenants_consumer.handle,
            )
        ),
        "tenant_keys": bus.consumer(
            Subscription(
                group=tenants_provision.GROUP,
                subjects=tenants_provision.SUBJECTS,
                ledger="notification",
                on_tenant_events=tenants_provision.handler(system.keyring),
            )
        ),
        "engagement": bus.consumer(
            Subscription(
                group=engagement.GROUP,
                subjects=engagement.SUBJECTS,
                ledger="chan",
                by_index=True,
                on_tenant_events=engagement.handler(clock=system.clock),
            )
        ),
        "erasure": bus.consumer(
            Subscription(
                group=erasure_consumer.GROUP,
                subjects=erasure_consumer.SUBJECTS,
                ledger="notification",
                by_index=True,
                # A person is much to lock; with many in one transaction everybody else would wait.
                by_lane=True,
                on_tenant_events=erasure_consumer.handler(system.eraser),
            )
        ),
        "erased_callbacks": bus.consumer(
            Subscription(
                group=callbacks_forget.GROUP,
                subjects=callbacks_forget.SUBJECTS,
                ledger="chan",
                on_tenant_events=callbacks_forget.handler(body_eraser),
            )
        ),
        "partitions": system.partitions,
        "audit_anchors": AnchorJob(
            [
                AnchorKeeper(system.db, log, system.kms, system.clock)
                for log in (system.audit, system.router_audit)
            ],
            on_broken=lambda log: system.metrics.audit_broken.labels(log).inc(),
        ),
        "flags": FlagsJob(system.flags, bus.wakeups.on(FLAGS_CHANNEL, FLAGS_PAYLOAD)),
        "templates": TemplatesJob(
            bus.wakeups.on(TEMPLATES_CHANNEL, TEMPLATES_PAYLOAD), system.templates, system.categories
        ),
        **api_jobs(system),
        "presence": system.presence,
        "dispatch": system.dispatching.dispatch,
        "schedule": system.dispatching.schedule,
        "due": system.climbing.due,
        "traffic": system.outbound.traffic_job,
        "callbacks": system.inbound.callbacks,
        "listening": system.inbound.listening,
        "bounce_mailboxes": system.inbound.bounce_mailboxes,
        **system.inbound.bounce_servers(system.settings.bounces, name=system.own_hosts[0]),
        **system.conversing.jobs,
        "outcomes": system.consumers.outcomes,
        "receipts": system.consumers.receipts,
        "channel_health": system.consumers.channel_health,
        "quiet_hours": system.consumers.quiet_hours,
        "confirmations": system.consumers.confirmations,
        "sweepers": SweepJob(
            {
                "idempotency_keys": lambda most: system.idempotency.sweep(system.db, limit=most),
                "dead_letters": lambda _: bus.dead_letters.sweep(),
                "hot_state": partial(_sweep_hot_state, system),
                "consumed_events": partial(_sweep_consumed, system),
                "dedup_ledger": partial(_sweep_ledger, system),
                "schedule": lambda most: sweep_schedule(system.db, system.clock, limit=most),
                "opt_out_tokens": partial(_sweep_tokens, system),
                "credentials": lambda most: revoke_superseded(
                    system.db, system.clock, grace=system.settings.channels.credential_grace, limit=most
                ),
                "delivery_ledgers": lambda most: sweep_ledgers(system.db, system.clock, limit=most),
                "callback_ledger": lambda most: callbacks_sweep.sweep_dedup(
                    system.db, system.clock, limit=most
                ),
                "callback_requests": lambda most: callbacks_sweep.settle_stuck(
                    system.db, system.clock, limit=most
                ),
                "callback_bodies": callbacks_sweep.RawBodySweeper(
                    system.db, lambda: system.blobs, system.clock
                ).sweep,
                "erased_callbacks": body_eraser.sweep,
                "erased_executions": body_eraser.forget_orders,
                "vendor_answers": AnswerSweeper(lambda: system.blobs, system.clock).sweep,
                "exact_bodies": bodies.sweep,
                "exact_bodies_unnamed": bodies.sweep_orphans,
                **system.conversing.sweeps,
                "unknown_codes": lambda most: sweep_unknown(system.db, system.clock, limit=most),
                "expired_suppressions": lambda most: expire_suppressions(
                    system.db, system.suppressor, system.clock, limit=most
                ),
                "suppression_counts": lambda most: fold_counts(system.db, limit=most),
                "receipts": lambda most: sweep_receipts(system.db, system.clock, limit=most),
                "missed_outcomes": system.consumers.missed_outcomes.sweep,
                "imports": lambda most: sweep_imports(system.db, system.clock, limit=most),
            },
            every=system.settings.jobs.sweep_every,
            metrics=system.metrics,
        ),
    }


async def _sweep_hot_state(system: "System", most: int) -> int:
    return max((await system.hot_state.sweep(limit=most)).values())


async def _sweep_consumed(system: "System", _: int) -> int:
    return sum([await ConsumedEvents(schema).sweep(system.db, system.clock) for schema in _LEDGERS])


async def _sweep_tokens(system: "System", most: int) -> int:
    async with system.db.worker() as tx:
        return await sweep_tokens(tx, now=system.clock.now(), limit=most)


async def _sweep_ledger(system: "System", most: int) -> int:
    async with system.db.worker() as tx:
        return await sweep_dedup_ledger(tx, now=system.clock.now(), limit=most)
