"""Every route of the API, each with what it needs of the system."""

from typing import TYPE_CHECKING

from litestar import Router
from litestar.handlers import HTTPRouteHandler

from tidings.bootstrap.stripes import Stripe, stripe
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.http.resources import Resource
from tidings.kernel.parts import Parts
from tidings.notify.access import deps as access_deps
from tidings.notify.access import routes as access_routes
from tidings.notify.audit_trail import deps as audit_deps
from tidings.notify.audit_trail import routes as audit_routes
from tidings.notify.branding import deps as branding_deps
from tidings.notify.branding import routes as branding_routes
from tidings.notify.categories import deps as categories_deps
from tidings.notify.categories import routes as categories_routes
from tidings.notify.channels import deps as channels_deps
from tidings.notify.channels import routes as channels_routes
from tidings.notify.channels.set_up import StoredChannelsSetUp
from tidings.notify.channels.try_out import ChannelTester
from tidings.notify.erasure import deps as erasure_deps
from tidings.notify.erasure import routes as erasure_routes
from tidings.notify.imports import deps as imports_deps
from tidings.notify.imports import routes as imports_routes
from tidings.notify.notifications import deps as notifications_deps
from tidings.notify.notifications import routes as notifications_routes
from tidings.notify.notifications.body import BodyReader
from tidings.notify.notifications.cancel import Canceller
from tidings.notify.notifications.explain import Explainer
from tidings.notify.notifications.front import NotificationsFront
from tidings.notify.notifications.lookup import NotificationFinder
from tidings.notify.notifications.rehearse import Rehearser
from tidings.notify.notifications.release import Releaser
from tidings.notify.notifications.resend import Resender
from tidings.notify.notifications.simulate import Simulator
from tidings.notify.preference_center import deps as preference_center_deps
from tidings.notify.preference_center import routes as preference_center_routes
from tidings.notify.recipients import deps as recipients_deps
from tidings.notify.recipients import routes as recipients_routes
from tidings.notify.recipients.choose import PreferenceChanger
from tidings.notify.recipients.known import StoredRecipients
from tidings.notify.recipients.lookup import AddressFinder
from tidings.notify.recipients.upsert import RecipientUpserter
from tidings.notify.refusals.refuse import Refuser
from tidings.notify.subject_access import deps as subject_access_deps
from tidings.notify.subject_access import routes as subject_access_routes
from tidings.notify.subject_access.export import SubjectExporter
from tidings.notify.subject_access.sent import SentReader
from tidings.notify.suppressions import deps as suppressions_deps
from tidings.notify.suppressions import routes as suppressions_routes
from tidings.notify.templates import deps as templates_deps
from tidings.notify.templates import routes as templates_routes
from tidings.notify.tenants import deps as tenants_deps
from tidings.notify.tenants import routes as tenants_routes
from tidings.notify.tracking import deps as tracking_deps
from tidings.notify.tracking import routes as tracking_routes
from tidings.router.adapters.registry import ADAPTERS, kind_of
from tidings.router.audit_trail import deps as router_audit_deps
from tidings.router.audit_trail import routes as router_audit_routes
from tidings.router.callbacks import deps as callbacks_deps
from tidings.router.callbacks import routes as callbacks_routes
from tidings.router.channel_configs import check_deps, check_routes
from tidings.router.channel_configs import deps as adapters_deps
from tidings.router.channel_configs import routes as adapters_routes
from tidings.router.channel_configs.check import AccountChecker
from tidings.router.channel_configs.keep import AccountKeeper
from tidings.router.conversations import routes as conversations_routes
from tidings.router.conversations.tell import StoredConversations
from tidings.router.executions import receipts
from tidings.router.executions_api import deps as executions_deps
from tidings.router.executions_api import routes as executions_routes
from tidings.router.inbound_routes import routes as inbound_routes_routes
from tidings.router.policies import deps as policies_deps
from tidings.router.policies import routes as policies_routes
from tidings.router.policies.check import Adapters
from tidings.router.policies.rehearse import PolicyRehearser
from tidings.router.prices.list import AccountPrices
from tidings.router.profiles import deps as profiles_deps
from tidings.router.profiles import routes as profiles_routes
from tidings.router.profiles.hear import StoredMailboxNews
from tidings.router.profiles.tell import StoredProfiles
from tidings.router.sealed_secrets import deps as secrets_deps
from tidings.router.sealed_secrets import routes as secrets_routes
from tidings.router.sealed_secrets.keep import SecretKeeper
from tidings.router.spend import deps as spend_deps
from tidings.router.spend import routes as spend_routes
from tidings.router.status_map import routes as status_map_routes
from tidings.router.status_map.reapply import Reapplier
from tidings.router.traffic import deps as traffic_deps
from tidings.router.traffic import routes as traffic_routes

if TYPE_CHECKING:
    from tidings.bootstrap.system import System


def routers(system: "System", front: NotificationsFront) -> list[Router | HTTPRouteHandler]:
    """All of them; `front` takes what comes most often."""
    bodies = BodyReader(
        system.db,
        loader=system.composing.facts,
        keyring=system.keyring,
        composer=system.composing.composer,
        links=system.links,
        audit=system.audit,
        blobs=lambda: system.blobs,
    )
    simulator = Simulator(
        system.db,
        desk=system.accepting.desk,
        loader=system.composing.facts,
        keyring=system.keyring,
        composer=system.composing.composer,
        attachments=system.attachments,
        links=system.links,
        router=system.climbing.router,
        clock=system.clock,
    )
    adapters = Adapters(kinds=ADAPTERS, find=kind_of)
    return [
        *callbacks_routes.routers(
            callbacks_deps.Deps(
                db=system.db,
                desk=system.inbound.desk,
                dead=system.inbound.dead,
                blobs=lambda: system.blobs,
                wakeup=system.inbound.wakeup,
            )
        ),
        *access_routes.routers(
            access_deps.Deps(
                db=system.db,
                clock=system.clock,
                ledger=system.key_ledger,
                keys=system.keys,
                idempotency=system.idempotency,
            )
        ),
        *tenants_routes.routers(
            tenants_deps.Deps(
                db=system.db,
                clock=system.clock,
                outbox=system.outbox,
                audit=system.audit,
                idempotency=system.idempotency,
                gate=system.gate,
            )
        ),
        *audit_routes.routers(audit_deps.Deps(db=system.db, audit=system.audit)),
        *recipients_routes.routers(
            recipients_deps.Deps(
                db=system.db,
                clock=system.clock,
                keyring=system.keyring,
                categories=system.categories,
                mailboxes=StoredMailboxNews(),
                outbox=system.outbox,
                audit=system.audit,
            )
        ),
        *erasure_routes.routers(erasure_deps.Deps(db=system.db, eraser=system.eraser)),
        *subject_access_routes.routers(_subject_access(system, bodies)),
        *preference_center_routes.routers(
            preference_center_deps.Deps(
                db=system.db,
                clock=system.clock,
                loader=system.composing.facts,
                changer=PreferenceChanger(outbox=system.outbox, audit=system.audit, clock=system.clock),
                refuser=Refuser(outbox=system.outbox, audit=system.audit, clock=system.clock),
                mailboxes=StoredMailboxNews(),
                limits=system.hot_state.limits,
            )
        ),
        *tracking_routes.routers(
            tracking_deps.Deps(tracker=system.composing.tracker, recorder=system.visits)
        ),
        *suppressions_routes.routers(
            suppressions_deps.Deps(
                db=system.db,
                clock=system.clock,
                keyring=system.keyring,
                outbox=system.outbox,
                audit=system.audit,
            )
        ),
        *imports_routes.routers(
            imports_deps.Deps(
                db=system.db,
                clock=system.clock,
                importer=system.importer,
                suppressor=system.suppressor,
                upserter=RecipientUpserter(
                    keyring=system.keyring, mailboxes=StoredMailboxNews(), clock=system.clock
                ),
                categories=system.categories,
                outbox=system.outbox,
            )
        ),
        *branding_routes.routers(branding_deps.Deps(db=system.db, clock=system.clock, audit=system.audit)),
        *categories_routes.routers(
            categories_deps.Deps(
                db=system.db,
                clock=system.clock,
                audit=system.audit,
                idempotency=system.idempotency,
                categories=system.categories,
            )
        ),
        *channels_routes.routers(
            channels_deps.Deps(
                db=system.db,
                clock=system.clock,
                audit=system.audit,
                router=system.adapter_configs,
                outbox=system.outbox,
                desk=system.outbound.desk,
                tester=ChannelTester(
                    desk=system.outbound.desk,
                    accounts=system.outbound.accounts,
                    limits=system.hot_state.limits,
                    loader=system.composing.facts,
                    keyring=system.keyring,
                    audit=system.audit,
                    clock=system.clock,
                ),
                resolver=system.resolver,
            )
        ),
        *templates_routes.routers(
            templates_deps.Deps(
                db=system.db,
                clock=system.clock,
                outbox=system.outbox,
                audit=system.audit,
                idempotency=system.idempotency,
                engine=system.authoring,
                templates=system.templates,
                facts=system.composing.facts,
                prices=AccountPrices(system.outbound.vendors.accounts),
                own_hosts=system.own_hosts,
            )
        ),
        *policies_routes.routers(
            policies_deps.Deps(
                db=system.db,
                clock=system.clock,
                audit=system.router_audit,
                idempotency=system.idempotency,
                adapters=adapters,
                accounts=system.outbound.accounts,
                rates=system.outbound.rates,
                channels=StoredChannelsSetUp(),
                rehearser=PolicyRehearser(
                    system.db,
                    steps=Rehearser(simulator),
                    planner=system.climbing.planner,
                    ladder=system.climbing.ladder,
                    accounts=system.outbound.accounts,
                    adapters=adapters,
                    traffic=system.outbound.traffic,
                    rates=system.outbound.rates,
                    clock=system.clock,
                ),
            )
        ),
        *executions_routes.routers(
            executions_deps.Deps(
                db=system.db,
                clock=system.clock,
                keyring=system.keyring,
                blobs=lambda: system.blobs,
                audit=system.router_audit,
            )
        ),
        *router_audit_routes.routers(router_audit_deps.Deps(db=system.db, audit=system.router_audit)),
        *traffic_routes.routers(
            traffic_deps.Deps(
                db=system.db,
                clock=system.clock,
                audit=system.router_audit,
                changer=system.outbound.traffic_changer,
                adapters=system.adapter_configs.vendors(),
                settings=system.outbound.traffic.settings,
            )
        ),
        *conversations_routes.routers(system.conversing.conversations),
        *inbound_routes_routes.routers(system.conversing.inbound_routes),
        *spend_routes.routers(spend_deps.Deps(db=system.db, clock=system.clock, rates=system.outbound.rates)),
        *check_routes.routers(
            check_deps.Deps(
                db=system.db,
                limits=system.hot_state.limits,
                checker=AccountChecker(
                    system.secrets,
                    clock=system.clock,
                    tenant_guard=system.tenant_guard,
                    public_url=system.public_url,
                ),
            )
        ),
        *adapters_routes.routers(
            adapters_deps.Deps(
                db=system.db,
                clock=system.clock,
                configs=system.adapter_configs,
                keeper=AccountKeeper(system.adapter_configs, system.outbound.desk),
                public_url=system.public_url,
            )
        ),
        *secrets_routes.routers(
            secrets_deps.Deps(
                db=system.db,
                keeper=SecretKeeper(
                    system.adapter_configs,
                    system.outbound.desk,
                    system.keyring,
                    audit=system.router_audit,
                    clock=system.clock,
                ),
            )
        ),
        *profiles_routes.routers(
            profiles_deps.Deps(
                db=system.db, clock=system.clock, recipients=StoredRecipients(), audit=system.router_audit
            )
        ),
        *notifications_routes.routers(
            notifications_deps.Deps(
                db=system.db,
                clock=system.clock,
                keyring=system.keyring,
                history=system.history,
                front=front,
                finder=NotificationFinder(
                    addresses=AddressFinder(keyring=system.keyring, audit=system.audit),
                    keyring=system.keyring,
                    clock=system.clock,
                ),
                resender=Resender(
                    db=system.db,
                    desk=system.accepting.desk,
                    acceptor=system.accepting.acceptor,
                    keyring=system.keyring,
                    audit=system.audit,
                    clock=system.clock,
                    wake=system.accepting.wake,
                ),
                idempotency=system.idempotency,
                canceller=Canceller(
                    outbox=system.outbox,
                    audit=system.audit,
                    clock=system.clock,
                    stripe=stripe(Stripe.CANCEL),
                ),
                releaser=Releaser(audit=system.audit, clock=system.clock),
                explainer=Explainer(
                    system.db,
                    history=system.history,
                    templates=system.templates,
                    categories=system.categories,
                    keyring=system.keyring,
                    clock=system.clock,
                ),
                simulator=simulator,
                bodies=bodies,
            )
        ),
    ]


def resources(system: "System") -> list[tuple[Parts, list[Resource]]]:
    """Every declared resource, with the parts that its handlers may name."""
    return [(router_parts(system), [status_map_routes.status_map])]


def router_parts(system: "System") -> Parts:
    """What the router's handlers may name."""
    return (
        Parts(system.db, system.idempotency, system.keyring, system.outbox)
        .add(Clock, system.clock)
        .add(AuditLog, system.router_audit)
        .add(
            Reapplier,
            Reapplier(
                system.db,
                receipts.apply,
                audit=system.router_audit,
                clock=system.clock,
                on_woken=system.due_timer.expect,
            ),
        )
    )


def _subject_access(system: "System", bodies: BodyReader) -> subject_access_deps.Deps:
    sent = SentReader(
        system.db,
        loader=system.composing.facts,
        keyring=system.keyring,
        bodies=bodies,
        attachments=system.attachments,
        clock=system.clock,
    )
    exporter = SubjectExporter(
        system.db,
        keyring=system.keyring,
        sent=sent,
        audit=system.audit,
        clock=system.clock,
        router=StoredProfiles(keyring=system.keyring, audit=system.router_audit, clock=system.clock),
        conversations=StoredConversations(system.keyring),
    )
    return subject_access_deps.Deps(exporter=exporter)
