-- The big table. First level: retention class, so that each class ages by itself. Second level: month of
-- created_at, which is the time inside the id, so that a look-up by id alone prunes to one month per class.
-- Months are made ahead by `tidings partitions`, not here.
-- No foreign keys: every one costs a look-up per row on the hottest insert. Nothing checks the references afterwards.
-- No index on status: a change of status would then rewrite every index of the row. Work is found in queue tables.

CREATE TABLE IF NOT EXISTS notification.notifications (
    tenant_id                TEXT COLLATE "C" NOT NULL,
    id                       TEXT COLLATE "C" NOT NULL,
    retention_class          TEXT COLLATE "C" NOT NULL,
    created_at               TIMESTAMPTZ NOT NULL,
    updated_at               TIMESTAMPTZ NOT NULL DEFAULT now(),
    scheduled_for            TIMESTAMPTZ,
    expires_at               TIMESTAMPTZ NOT NULL,
    queued_at                TIMESTAMPTZ NOT NULL DEFAULT now(),
    dispatched_at            TIMESTAMPTZ,
    delivered_at             TIMESTAMPTZ,
    failed_at                TIMESTAMPTZ,
    bounced_at               TIMESTAMPTZ,
    suppressed_at            TIMESTAMPTZ,
    superseded_at            TIMESTAMPTZ,
    cancelled_at             TIMESTAMPTZ,
    expired_at               TIMESTAMPTZ,
    opened_at                TIMESTAMPTZ,
    clicked_at               TIMESTAMPTZ,
    read_at                  TIMESTAMPTZ,
    source_event_produced_at TIMESTAMPTZ,
    version                  INTEGER NOT NULL DEFAULT 1,
    preference_version       INTEGER,
    is_test                  BOOLEAN NOT NULL DEFAULT false,
    status                   TEXT COLLATE "C" NOT NULL,
    channel                  TEXT COLLATE "C" NOT NULL,
    final_channel            TEXT COLLATE "C",
    category                 TEXT COLLATE "C" NOT NULL,
    use_case                 TEXT COLLATE "C" NOT NULL,
    priority                 TEXT COLLATE "C" NOT NULL DEFAULT 'normal',
    locale                   TEXT COLLATE "C",
    recipient_id             TEXT COLLATE "C" NOT NULL,
    template_id              TEXT COLLATE "C" NOT NULL,
    template_version_id      TEXT COLLATE "C" NOT NULL,
    template_key             TEXT COLLATE "C" NOT NULL,
    template_semver          TEXT COLLATE "C" NOT NULL,
    address_hash             TEXT COLLATE "C",
    address_ciphertext       BYTEA,
    sender                   TEXT,
    render_snapshot          TEXT,
    subject_ciphertext       BYTEA,
    body_ciphertext          BYTEA,
    body_ref                 TEXT,
    variables_hash           TEXT COLLATE "C" NOT NULL,
    variables_ciphertext     BYTEA,
    source_event_id          TEXT COLLATE "C",
    source_event_type        TEXT COLLATE "C",
    correlation_id           TEXT COLLATE "C",
    batch_id                 TEXT COLLATE "C",
    digest_group_id          TEXT COLLATE "C",
    suppression_reason       TEXT,
    failure_reason           TEXT,
    delivery_evidence        TEXT,
    decision_trace           TEXT,
    metadata                 TEXT,
    attachments_ciphertext   BYTEA,
    template_versions        TEXT,
    CONSTRAINT pk_notifications PRIMARY KEY (tenant_id, created_at, id, retention_class),
    CONSTRAINT ck_notifications_id CHECK (id LIKE 'ntf\_%' AND length(id) = 30),
    CONSTRAINT ck_notifications_status CHECK (status IN
        ('queued', 'scheduled', 'dispatched', 'delivered', 'failed', 'bounced', 'suppressed', 'superseded',
         'cancelled', 'expired')),
    CONSTRAINT ck_notifications_channel CHECK (channel IN
        ('auto', 'email', 'sms', 'whatsapp', 'telegram', 'viber', 'voice', 'push', 'inapp', 'webhook')),
    CONSTRAINT ck_notifications_final_channel CHECK (final_channel IN
        ('email', 'sms', 'whatsapp', 'telegram', 'viber', 'voice', 'push', 'inapp', 'webhook')),
    CONSTRAINT ck_notifications_use_case CHECK (use_case IN ('otp', 'txn', 'marketing', 'alert', 'conversational')),
    CONSTRAINT ck_notifications_priority CHECK (priority IN ('critical', 'high', 'normal', 'low')),
    CONSTRAINT ck_notifications_evidence CHECK (delivery_evidence IN ('accepted', 'sent', 'delivered', 'read'))
) PARTITION BY LIST (retention_class);

CREATE TABLE IF NOT EXISTS notification.notifications_regulated PARTITION OF notification.notifications
    FOR VALUES IN ('regulated') PARTITION BY RANGE (created_at);
CREATE TABLE IF NOT EXISTS notification.notifications_standard PARTITION OF notification.notifications
    FOR VALUES IN ('standard') PARTITION BY RANGE (created_at);
CREATE TABLE IF NOT EXISTS notification.notifications_marketing PARTITION OF notification.notifications
    FOR VALUES IN ('marketing') PARTITION BY RANGE (created_at);

-- Ciphertext does not compress: spare the attempt. New partitions inherit the setting.
ALTER TABLE notification.notifications
    ALTER COLUMN variables_ciphertext SET STORAGE EXTERNAL;

-- What somebody was sent, newest first: the first question of everybody who looks for a message; the in-app feed too.
-- Not led by the tenant, which a recipient's id tells anyhow: every look-up of a row by its key names the tenant, and must
-- not come in here, whatever the statistics say of a month that has just begun.
CREATE INDEX IF NOT EXISTS ix_notifications_recipient
    ON notification.notifications (recipient_id, created_at DESC);

COMMENT ON TABLE notification.notifications IS 'One message to one recipient, from acceptance to its end.';
COMMENT ON TABLE notification.notifications_regulated IS 'Notifications kept longest: money, law, security.';
COMMENT ON TABLE notification.notifications_standard IS 'Notifications of the ordinary kind.';
COMMENT ON TABLE notification.notifications_marketing IS 'Notifications that age fastest.';
COMMENT ON COLUMN notification.notifications.created_at IS 'The time inside the id, in milliseconds. No default: it comes with the id.';
COMMENT ON COLUMN notification.notifications.retention_class IS 'Copied from the category at acceptance; never changes.';
COMMENT ON COLUMN notification.notifications.status IS
    'Moves forward only. Rendering and sending are phases of a held lease; opened and clicked are times.';
COMMENT ON COLUMN notification.notifications.channel IS 'As asked for; auto lets the router''s ladder choose.';
COMMENT ON COLUMN notification.notifications.final_channel IS 'The channel that delivered.';
COMMENT ON COLUMN notification.notifications.address_hash IS 'The address last written to; null until a step was prepared.';
COMMENT ON COLUMN notification.notifications.sender IS 'JSON: the sender as frozen when the first step was prepared.';
COMMENT ON COLUMN notification.notifications.render_snapshot IS 'JSON: body format, checksum, sizes. No text of the message.';
COMMENT ON COLUMN notification.notifications.variables_ciphertext IS 'Under the recipient''s data key, as are subject and body.';
COMMENT ON COLUMN notification.notifications.digest_group_id IS 'The digest window this notification was an item of.';
COMMENT ON COLUMN notification.notifications.decision_trace IS 'Compact lines, one per decision; reasons and versions, no content.';
COMMENT ON COLUMN notification.notifications.delivery_evidence IS
    'What delivered rests on; accepted where the channel has no receipts.';
COMMENT ON COLUMN notification.notifications.locale IS 'As asked for, or as it was rendered in; null until then: the recipient''s.';
COMMENT ON COLUMN notification.notifications.attachments_ciphertext IS
    'JSON under the recipient''s key: names, types, and where the sealed objects are in the blob store.';
COMMENT ON COLUMN notification.notifications.template_versions IS
    'JSON, for auto: the frozen version of every channel. Null: template_version_id is the only one.';
COMMENT ON COLUMN notification.notifications.metadata IS 'JSON of the caller, returned as given: not for personal data.';

CALL kernel.protect_tenant_table('notification.notifications', 'SELECT, INSERT, UPDATE');
CALL kernel.seal_partition('notification.notifications_regulated');
CALL kernel.seal_partition('notification.notifications_standard');
CALL kernel.seal_partition('notification.notifications_marketing');
