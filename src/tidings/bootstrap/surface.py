"""Every route of the API, each with what it needs of the system."""

from typing import TYPE_CHECKING, TypeAlias

from tidings.backoffice.api import activity_routes as backoffice_activity_routes
from tidings.backoffice.api import ai_inbox_routes as backoffice_ai_inbox_routes
from tidings.backoffice.api import alerts_routes as backoffice_alerts_routes
from tidings.backoffice.api import audit_routes as backoffice_audit_routes
from tidings.backoffice.api import devices_routes as backoffice_devices_routes
from tidings.backoffice.api import exports_routes as backoffice_exports_routes
from tidings.backoffice.api import health_routes as backoffice_health_routes
from tidings.backoffice.api import locks_routes as backoffice_locks_routes
from tidings.backoffice.api import notes_routes as backoffice_notes_routes
from tidings.backoffice.api import operators_routes as backoffice_operators_routes
from tidings.backoffice.api import passkeys_routes as backoffice_passkeys_routes
from tidings.backoffice.api import preferences_routes as backoffice_preferences_routes
from tidings.backoffice.api import sessions_routes as backoffice_sessions_routes
from tidings.backoffice.api import stream_routes as backoffice_stream_routes
from tidings.backoffice.api import views_routes as backoffice_views_routes
from tidings.backoffice.console.areas import AREAS as CONSOLE_AREAS
from tidings.bootstrap.parts import notify_parts, router_parts
from tidings.kernel.http.resources import Resource
from tidings.kernel.parts import Parts
from tidings.notify.accept import routes as accept_routes
from tidings.notify.access import routes as access_routes
from tidings.notify.audit_trail import routes as audit_routes
from tidings.notify.batches import routes as batches_routes
from tidings.notify.branding import routes as branding_routes
from tidings.notify.categories import routes as categories_routes
from tidings.notify.channels import routes as channels_routes
from tidings.notify.digests import routes as digests_routes
from tidings.notify.erasure import routes as erasure_routes
from tidings.notify.event_feed import routes as event_feed_routes
from tidings.notify.event_subscriptions import routes as event_subscriptions_routes
from tidings.notify.imports import routes as imports_routes
from tidings.notify.inbox import recipient_routes as inbox_recipient_routes
from tidings.notify.inbox import routes as inbox_routes
from tidings.notify.inbox_component import routes as inbox_component_routes
from tidings.notify.inbox_live import presence_routes as inbox_presence_routes
from tidings.notify.inbox_live import routes as inbox_live_routes
from tidings.notify.inbox_preferences import routes as inbox_preferences_routes
from tidings.notify.notifications import explain_routes
from tidings.notify.notifications import routes as notifications_routes
from tidings.notify.notifications.simulate import Simulator
from tidings.notify.preference_center import link_routes as preference_link_routes
from tidings.notify.preference_center import routes as preference_center_routes
from tidings.notify.received_events import routes as received_events_routes
from tidings.notify.recipients import consent_routes, preference_routes
from tidings.notify.recipients import routes as recipients_routes
from tidings.notify.schedule import routes as schedule_routes
from tidings.notify.subject_access import routes as subject_access_routes
from tidings.notify.suppressions import platform_routes as platform_suppressions_routes
from tidings.notify.suppressions import routes as suppressions_routes
from tidings.notify.templates import routes as templates_routes
from tidings.notify.tenants import routes as tenants_routes
from tidings.notify.tenants import settings_routes as tenant_settings_routes
from tidings.notify.tracking import routes as tracking_routes
from tidings.notify.triggers import routes as triggers_routes
from tidings.notify.webhook_portal import routes as webhook_portal_routes
from tidings.notify.webhooks import routes as webhooks_routes
from tidings.router.audit_trail import routes as router_audit_routes
from tidings.router.callbacks import routes as callbacks_routes
from tidings.router.channel_configs import routes as adapters_routes
from tidings.router.conversations import routes as conversations_routes
from tidings.router.executions_api import routes as executions_routes
from tidings.router.inbound_routes import routes as inbound_routes_routes
from tidings.router.policies import routes as policies_routes
from tidings.router.profiles import routes as profiles_routes
from tidings.router.sealed_secrets import routes as secrets_routes
from tidings.router.spend import routes as spend_routes
from tidings.router.statistics import routes as statistics_routes
from tidings.router.status_map import routes as status_map_routes
from tidings.router.traffic import routes as traffic_routes

if TYPE_CHECKING:
    from tidings.bootstrap.system import System

#: Resources with the parts that their handlers may name.
Served: TypeAlias = list[tuple[Parts, list[Resource]]]


def resources_of(system: "System") -> Served:
    """Every declared resource, with the parts that its handlers may name."""
    notify = notify_parts(system)
    return [
        (
            system.backoffice.parts,
            [
                backoffice_sessions_routes.sessions,
                backoffice_operators_routes.operators,
                backoffice_audit_routes.audit_trail,
                backoffice_ai_inbox_routes.ai_inbox,
                backoffice_devices_routes.devices,
                backoffice_activity_routes.activity,
                backoffice_locks_routes.locks,
                backoffice_notes_routes.notes,
                backoffice_preferences_routes.preferences,
                backoffice_exports_routes.exports,
                backoffice_stream_routes.stream_of_device,
                backoffice_views_routes.properties,
                backoffice_passkeys_routes.passkeys,
                backoffice_alerts_routes.alerts,
                backoffice_health_routes.health,
                *CONSOLE_AREAS,
            ],
        ),
        (
            notify,
            [
                access_routes.api_keys,
                audit_routes.audit_trail,
                tenants_routes.tenants,
                tenants_routes.tenant,
                tenant_settings_routes.settings,
                channels_routes.channels,
                branding_routes.branding,
                categories_routes.categories,
                categories_routes.platform_categories,
                recipients_routes.recipients,
                preference_routes.preferences,
                consent_routes.consents,
                suppressions_routes.suppressions,
                platform_suppressions_routes.platform_suppressions,
                imports_routes.imports,
                imports_routes.suppression_imports,
                imports_routes.recipient_imports,
                imports_routes.preference_imports,
                preference_center_routes.preference_pages,
                preference_link_routes.preference_links,
                inbox_component_routes.inbox_assets,
                tracking_routes.tracking,
                accept_routes.sending,
                notifications_routes.notifications,
                explain_routes.explaining,
                schedule_routes.scheduled,
                triggers_routes.triggers,
                received_events_routes.events,
                digests_routes.digests,
                batches_routes.batches,
                webhooks_routes.webhooks,
                webhook_portal_routes.portal_pages,
                inbox_routes.own_inbox,
                inbox_live_routes.own_inbox_live,
                inbox_preferences_routes.own_inbox_preferences,
                inbox_presence_routes.presence,
                inbox_recipient_routes.inboxes,
                event_feed_routes.feed,
                event_feed_routes.readers,
                event_subscriptions_routes.event_subscriptions,
                erasure_routes.erasures,
                subject_access_routes.subject_access,
                *templates_routes.RESOURCES,
            ],
        ),
        (
            router_parts(system, simulator=notify.get(Simulator)),
            [
                adapters_routes.adapters,
                router_audit_routes.audit_trail,
                callbacks_routes.callbacks,
                callbacks_routes.hooks,
                conversations_routes.conversations,
                conversations_routes.inbound_messages,
                conversations_routes.unmatched,
                inbound_routes_routes.inbound_routes,
                traffic_routes.circuits,
                executions_routes.executions,
                policies_routes.policies,
                profiles_routes.profiles,
                secrets_routes.secrets,
                spend_routes.spend,
                statistics_routes.statistics,
                statistics_routes.statistics_of_all,
                status_map_routes.status_map,
                traffic_routes.weights,
            ],
        ),
    ]
