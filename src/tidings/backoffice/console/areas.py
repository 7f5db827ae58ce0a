"""The areas of the console: a resource for each part of its pages."""

from tidings.backoffice.console.ai_inbox.routes import ai_inbox_pages
from tidings.backoffice.console.alerts.routes import alerts_pages
from tidings.backoffice.console.api_keys.routes import keys_pages
from tidings.backoffice.console.audit.routes import audit_pages
from tidings.backoffice.console.batches.routes import batches_pages
from tidings.backoffice.console.branding.layout_routes import layout_pages
from tidings.backoffice.console.branding.routes import branding_pages
from tidings.backoffice.console.categories.routes import categories_pages
from tidings.backoffice.console.channels.routes import channels_pages
from tidings.backoffice.console.conversations.routes import conversations_pages
from tidings.backoffice.console.devices.routes import devices_pages
from tidings.backoffice.console.digests.routes import digests_pages
from tidings.backoffice.console.health.routes import health_pages
from tidings.backoffice.console.imports.routes import imports_pages
from tidings.backoffice.console.ledgers.routes import ledgers_pages
from tidings.backoffice.console.locks.routes import locks_pages
from tidings.backoffice.console.notifications.find_routes import find_pages
from tidings.backoffice.console.notifications.routes import notifications_pages
from tidings.backoffice.console.overview.routes import overview_pages
from tidings.backoffice.console.people.choice_routes import choice_pages
from tidings.backoffice.console.people.privacy_routes import privacy_pages
from tidings.backoffice.console.people.routes import people_pages
from tidings.backoffice.console.policies.routes import policies_pages
from tidings.backoffice.console.routes import console
from tidings.backoffice.console.settings.routes import settings_pages
from tidings.backoffice.console.sign_in_routes import sign_in_pages
from tidings.backoffice.console.spend.routes import spend_pages
from tidings.backoffice.console.suppressions.routes import suppressions_pages
from tidings.backoffice.console.templates.editor_routes import editor_pages
from tidings.backoffice.console.templates.files_routes import template_files
from tidings.backoffice.console.templates.routes import templates_pages
from tidings.backoffice.console.tenants.callbacks_pages import callbacks_pages
from tidings.backoffice.console.tenants.routes import tenants_pages
from tidings.backoffice.console.tenants.suppressions_pages import platform_suppressions_pages
from tidings.backoffice.console.triggers.events_routes import events_pages
from tidings.backoffice.console.triggers.routes import triggers_pages
from tidings.backoffice.console.vendors.routes import vendors_pages
from tidings.backoffice.console.webhooks.inbound_routes import inbound_pages
from tidings.backoffice.console.webhooks.routes import webhooks_pages
from tidings.backoffice.console.workbench.routes import workbench_pages

AREAS = (
    sign_in_pages,
    overview_pages,
    console,
    alerts_pages,
    ai_inbox_pages,
    devices_pages,
    health_pages,
    channels_pages,
    find_pages,
    notifications_pages,
    people_pages,
    choice_pages,
    privacy_pages,
    suppressions_pages,
    imports_pages,
    conversations_pages,
    template_files,
    templates_pages,
    editor_pages,
    policies_pages,
    batches_pages,
    inbound_pages,
    webhooks_pages,
    workbench_pages,
    locks_pages,
    ledgers_pages,
    triggers_pages,
    events_pages,
    vendors_pages,
    digests_pages,
    categories_pages,
    branding_pages,
    layout_pages,
    spend_pages,
    audit_pages,
    keys_pages,
    settings_pages,
    tenants_pages,
    platform_suppressions_pages,
    callbacks_pages,
)
