-- tidings: oldest-release=0.1.0
-- Planned work: entries of the schedule that have no notification yet, and what each event has led to.

ALTER TABLE notification.notification_scheduled
    ADD COLUMN IF NOT EXISTS trigger_id        TEXT COLLATE "C",
    ADD COLUMN IF NOT EXISTS trigger_version   INTEGER,
    ADD COLUMN IF NOT EXISTS template_key      TEXT COLLATE "C",
    ADD COLUMN IF NOT EXISTS channel           TEXT COLLATE "C",
    ADD COLUMN IF NOT EXISTS event_type        TEXT COLLATE "C",
    ADD COLUMN IF NOT EXISTS event_source      TEXT COLLATE "C",
    ADD COLUMN IF NOT EXISTS event_subject     TEXT COLLATE "C",
    ADD COLUMN IF NOT EXISTS event_time        TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS anchor            TEXT,
    ADD COLUMN IF NOT EXISTS anchor_offset     TEXT,
    ADD COLUMN IF NOT EXISTS local_time        TEXT,
    ADD COLUMN IF NOT EXISTS zone              TEXT,
    ADD COLUMN IF NOT EXISTS is_test           BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS failed_at         TIMESTAMPTZ,
    ADD COLUMN IF NOT EXISTS obsolete_reason   TEXT,
    ADD COLUMN IF NOT EXISTS obsolete_event_id TEXT COLLATE "C";
COMMENT ON COLUMN notification.notification_scheduled.kind IS
    'scheduled_send; quiet_hours, rate_limit and other gates that put a notification off; trigger: planned, and no notification yet.';
COMMENT ON COLUMN notification.notification_scheduled.processed_at IS 'Since when it is over: sent on its way, obsolete or failed.';
COMMENT ON COLUMN notification.notification_scheduled.payload_ciphertext IS
    'The order of what is planned, until it is over; kept where it failed. Under the recipient''s key, or the tenant''s where no recipient is known.';
COMMENT ON COLUMN notification.notification_scheduled.attempt_count IS 'How often it failed.';
COMMENT ON COLUMN notification.notification_scheduled.trigger_id IS 'Which trigger planned it; null for what waits for its notification.';
COMMENT ON COLUMN notification.notification_scheduled.event_subject IS 'What the event is about; with its source it finds what a later event moves or clears.';
COMMENT ON COLUMN notification.notification_scheduled.anchor IS 'The moment or day that the time is reckoned from, as the event has it.';
COMMENT ON COLUMN notification.notification_scheduled.anchor_offset IS 'From the anchor, as an ISO 8601 duration with a sign.';
COMMENT ON COLUMN notification.notification_scheduled.local_time IS 'The hour of the day in the zone; null: whatever hour the offset leads to.';
COMMENT ON COLUMN notification.notification_scheduled.zone IS 'The person''s time zone that run_after was reckoned in; null where no zone matters.';
COMMENT ON COLUMN notification.notification_scheduled.failed_at IS 'Since when it is given up; processed_at is set too.';
COMMENT ON COLUMN notification.notification_scheduled.obsolete_reason IS 'cancelled_by, replanned, cancelled, erased…';

CREATE TABLE IF NOT EXISTS notification.trigger_firings (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    id              TEXT COLLATE "C" NOT NULL,
    event_id        TEXT COLLATE "C" NOT NULL,
    event_type      TEXT COLLATE "C" NOT NULL,
    event_source    TEXT COLLATE "C" NOT NULL,
    event_subject   TEXT COLLATE "C",
    event_time      TIMESTAMPTZ NOT NULL,
    trigger_id      TEXT COLLATE "C" NOT NULL,
    trigger_version INTEGER NOT NULL,
    template_key    TEXT COLLATE "C" NOT NULL,
    channel         TEXT COLLATE "C" NOT NULL,
    recipient_id    TEXT COLLATE "C",
    scheduled_id    TEXT COLLATE "C",
    notification_id TEXT COLLATE "C",
    result          TEXT NOT NULL,
    reason          TEXT,
    send_at         TIMESTAMPTZ,
    ended_by        TEXT COLLATE "C",
    fired_at        TIMESTAMPTZ NOT NULL,
    expires_at      TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_trigger_firings PRIMARY KEY (tenant_id, id),
    CONSTRAINT ck_trigger_firings_id CHECK (id LIKE 'fir\_%' AND length(id) = 30),
    CONSTRAINT ck_trigger_firings_result CHECK (result IN ('sent', 'planned', 'skipped', 'failed', 'obsolete', 'cleared'))
);
CREATE INDEX IF NOT EXISTS ix_trigger_firings_event ON notification.trigger_firings (tenant_id, event_id);
CREATE INDEX IF NOT EXISTS ix_trigger_firings_notification ON notification.trigger_firings (tenant_id, notification_id)
    WHERE notification_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS ix_trigger_firings_subject ON notification.trigger_firings
    (tenant_id, trigger_id, event_source, event_subject) WHERE event_subject IS NOT NULL;
CREATE INDEX IF NOT EXISTS ix_trigger_firings_expiry ON notification.trigger_firings (expires_at);
COMMENT ON TABLE notification.trigger_firings IS 'What an event has led to: one row for each trigger that heard it and each person, with the reason where nothing came of it.';
COMMENT ON COLUMN notification.trigger_firings.reason IS 'A code: why it was skipped, failed, or became obsolete.';
COMMENT ON COLUMN notification.trigger_firings.send_at IS 'When it was to be sent, as reckoned when the event was heard.';
COMMENT ON COLUMN notification.trigger_firings.ended_by IS 'The later event that moved or cleared it.';
CALL kernel.protect_tenant_table('notification.trigger_firings', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_sets('notification.trigger_firings');
CALL kernel.open_to_worker('notification.trigger_firings', 'SELECT (tenant_id, id, expires_at), DELETE');
CALL kernel.store_as_ledger('notification.trigger_firings');

-- The sweeper keeps planned work longer than what waited for its notification.
CALL kernel.open_to_worker('notification.notification_scheduled',
    'SELECT (tenant_id, id, kind, priority, source_event_id, notification_id, recipient_id, run_after, obsolete, processed_at, '
    'claimed_by, claimed_until, attempt_count, last_error, created_at, updated_at, trigger_id), '
    'UPDATE (claimed_by, claimed_until, updated_at), DELETE');

CALL kernel.assert_protected();
