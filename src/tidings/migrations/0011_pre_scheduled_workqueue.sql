-- Work that waits for its time: scheduled sends and deferrals, and digests that are filling.

CREATE TABLE IF NOT EXISTS notification.notification_scheduled (
    tenant_id          TEXT COLLATE "C" NOT NULL,
    id                 TEXT COLLATE "C" NOT NULL,
    kind               TEXT NOT NULL,
    priority           TEXT NOT NULL DEFAULT 'normal',
    source_event_id    TEXT COLLATE "C",
    notification_id    TEXT COLLATE "C",
    recipient_id       TEXT COLLATE "C",
    payload_ciphertext BYTEA,
    run_after          TIMESTAMPTZ NOT NULL,
    obsolete           BOOLEAN NOT NULL DEFAULT false,
    processed_at       TIMESTAMPTZ,
    claimed_by         TEXT,
    claimed_until      TIMESTAMPTZ,
    attempt_count      INTEGER NOT NULL DEFAULT 0,
    last_error         TEXT,
    created_at         TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at         TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT pk_notification_scheduled PRIMARY KEY (tenant_id, id),
    CONSTRAINT ck_notification_scheduled_id CHECK (id LIKE 'sch\_%' AND length(id) = 30),
    CONSTRAINT ck_notification_scheduled_priority CHECK (priority IN ('critical', 'high', 'normal', 'low'))
);
CREATE INDEX IF NOT EXISTS ix_notification_scheduled_due
    ON notification.notification_scheduled (run_after) WHERE processed_at IS NULL AND obsolete = false;
CREATE INDEX IF NOT EXISTS ix_notification_scheduled_source
    ON notification.notification_scheduled (tenant_id, source_event_id)
    WHERE processed_at IS NULL AND source_event_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS ix_notification_scheduled_notification
    ON notification.notification_scheduled (tenant_id, notification_id) WHERE notification_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS ix_notification_scheduled_done
    ON notification.notification_scheduled (processed_at) WHERE processed_at IS NOT NULL;
COMMENT ON TABLE notification.notification_scheduled IS 'Queue of work with a due time.';
COMMENT ON COLUMN notification.notification_scheduled.kind IS
    'quiet_hours, rate_limit, scheduled_send, or what a trigger plans: pre_arrival_reminder, dunning_step…';
COMMENT ON COLUMN notification.notification_scheduled.payload_ciphertext IS
    'What to enqueue, when there is no notification yet. Under the recipient''s key, or the tenant''s where none is known.';
COMMENT ON COLUMN notification.notification_scheduled.claimed_until IS 'Lease of the worker that holds it; free again afterwards.';
COMMENT ON COLUMN notification.notification_scheduled.last_error IS 'Code and ids only: the worker role reads it.';
CALL kernel.protect_tenant_table('notification.notification_scheduled', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_worker('notification.notification_scheduled',
    'SELECT (tenant_id, id, kind, priority, source_event_id, notification_id, recipient_id, run_after, obsolete, processed_at, '
    'claimed_by, claimed_until, attempt_count, last_error, created_at, updated_at), '
    'UPDATE (claimed_by, claimed_until, attempt_count, last_error, updated_at), DELETE');
CALL kernel.set_policy('notification.notification_scheduled', 'worker_sweeps_what_is_done',
    'AS RESTRICTIVE FOR DELETE TO tidings_worker USING (processed_at IS NOT NULL OR obsolete)');

CREATE TABLE IF NOT EXISTS notification.digest_windows (
    tenant_id              TEXT COLLATE "C" NOT NULL,
    id                     TEXT COLLATE "C" NOT NULL,
    recipient_id           TEXT COLLATE "C" NOT NULL,
    category               TEXT COLLATE "C" NOT NULL,
    channel                TEXT NOT NULL,
    digest_key             TEXT COLLATE "C" NOT NULL DEFAULT '',
    window_start           TIMESTAMPTZ NOT NULL,
    window_end             TIMESTAMPTZ NOT NULL,
    flush_at               TIMESTAMPTZ NOT NULL,
    item_count             INTEGER NOT NULL DEFAULT 0,
    state                  TEXT NOT NULL DEFAULT 'open',
    digest_notification_id TEXT COLLATE "C",
    claimed_by             TEXT,
    claimed_until          TIMESTAMPTZ,
    created_at             TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at             TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT pk_digest_windows PRIMARY KEY (tenant_id, id),
    CONSTRAINT uq_digest_windows_window UNIQUE (tenant_id, recipient_id, category, channel, digest_key, window_start),
    CONSTRAINT fk_digest_windows_recipient FOREIGN KEY (tenant_id, recipient_id)
        REFERENCES notification.recipients (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT ck_digest_windows_id CHECK (id ~ '^dgw_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_digest_windows_channel CHECK (channel IN
        ('auto', 'email', 'sms', 'whatsapp', 'telegram', 'viber', 'voice', 'push', 'inapp', 'webhook')),
    CONSTRAINT ck_digest_windows_state CHECK (state IN ('open', 'flushing', 'flushed')),
    CONSTRAINT ck_digest_windows_order CHECK (window_end > window_start)
);
CREATE INDEX IF NOT EXISTS ix_digest_windows_flush_ready ON notification.digest_windows (flush_at) WHERE state <> 'flushed';
COMMENT ON TABLE notification.digest_windows IS 'Queue of digests: a window per recipient, category, channel and key.';
COMMENT ON COLUMN notification.digest_windows.digest_key IS 'Tells several digests of one category apart; empty for the usual one.';
COMMENT ON COLUMN notification.digest_windows.item_count IS 'Its items are the notifications with this digest_group_id.';
CALL kernel.protect_tenant_table('notification.digest_windows', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_worker('notification.digest_windows', 'SELECT, UPDATE (state, claimed_by, claimed_until, updated_at)');
