-- Which consumed event makes which notification. Platform rows have no tenant and hold for every tenant.

CREATE TABLE IF NOT EXISTS notification.notification_trigger_map (
    id                      TEXT COLLATE "C" NOT NULL,
    tenant_id               TEXT COLLATE "C",
    scope                   TEXT NOT NULL,
    consumed_event_type     TEXT COLLATE "C" NOT NULL,
    channel                 TEXT NOT NULL DEFAULT 'auto',
    template_key            TEXT COLLATE "C" NOT NULL,
    recipient_resolver      TEXT NOT NULL,
    priority                TEXT NOT NULL DEFAULT 'normal',
    category                TEXT COLLATE "C" NOT NULL,
    schedule_offset_seconds INTEGER NOT NULL DEFAULT 0,
    schedule_anchor         TEXT,
    enabled                 BOOLEAN NOT NULL DEFAULT true,
    created_at              TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at              TIMESTAMPTZ NOT NULL DEFAULT now(),
    version                 INTEGER NOT NULL DEFAULT 1,
    CONSTRAINT pk_notification_trigger_map PRIMARY KEY (id),
    CONSTRAINT uq_notification_trigger_map_rule UNIQUE NULLS NOT DISTINCT
        (tenant_id, consumed_event_type, channel, template_key),
    CONSTRAINT fk_notification_trigger_map_tenant FOREIGN KEY (tenant_id)
        REFERENCES notification.tenants_local (tenant_id),
    CONSTRAINT fk_notification_trigger_map_category FOREIGN KEY (category)
        REFERENCES notification_platform.categories (category),
    CONSTRAINT ck_notification_trigger_map_id CHECK (id ~ '^trg_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_notification_trigger_map_scope CHECK
        (scope IN ('platform', 'tenant') AND (scope = 'platform') = (tenant_id IS NULL)),
    CONSTRAINT ck_notification_trigger_map_channel CHECK (channel IN
        ('auto', 'email', 'sms', 'whatsapp', 'telegram', 'viber', 'voice', 'push', 'inapp', 'webhook')),
    CONSTRAINT ck_notification_trigger_map_priority CHECK (priority IN ('critical', 'high', 'normal', 'low'))
);
CREATE INDEX IF NOT EXISTS ix_notification_trigger_map_event
    ON notification.notification_trigger_map (consumed_event_type) WHERE enabled;
COMMENT ON TABLE notification.notification_trigger_map IS 'Rules: event type to template, recipient, channel, time.';
COMMENT ON COLUMN notification.notification_trigger_map.recipient_resolver IS
    'Named function over the event (primary_guest, tenant_admins, iam_subject, vendor_assignee) or a JSON path.';
COMMENT ON COLUMN notification.notification_trigger_map.schedule_offset_seconds IS 'From the anchor; negative is before it.';
COMMENT ON COLUMN notification.notification_trigger_map.schedule_anchor IS
    'event_produced_at, stay_start, checked_out_at, invoice_due_date…; null is the event''s own time.';
CALL kernel.protect_shared_table('notification.notification_trigger_map', 'SELECT, INSERT, UPDATE, DELETE',
    'SELECT, INSERT, UPDATE, DELETE');
