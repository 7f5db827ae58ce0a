-- tidings: oldest-release=0.1.0
-- No release has written batches: the table is empty. The small numbers are places in short lists.
-- squawk-ignore-file require-concurrent-index-creation, prefer-bigint-over-smallint
-- squawk-ignore-file adding-field-with-default, ban-drop-constraint, constraint-missing-not-valid, adding-foreign-key-constraint
-- Batches: one template to many people. A ledger row for each person makes that a crash, a pause or two runners skip and repeat
-- nobody; counts that are kept with the work are the totals.

ALTER TABLE notification.dispatch_batches
    -- A tenant may have categories of its own.
    DROP CONSTRAINT IF EXISTS fk_dispatch_batches_category,
    ADD COLUMN IF NOT EXISTS priority text COLLATE pg_catalog."C" NOT NULL DEFAULT 'low',
    ADD COLUMN IF NOT EXISTS local_time text COLLATE pg_catalog."C",
    ADD COLUMN IF NOT EXISTS send_window jsonb,
    ADD COLUMN IF NOT EXISTS variants jsonb,
    ADD COLUMN IF NOT EXISTS needs_approval boolean NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS changed_by text,
    ADD COLUMN IF NOT EXISTS approved_by text,
    ADD COLUMN IF NOT EXISTS approved_at timestamptz,
    ADD COLUMN IF NOT EXISTS cloned_from text COLLATE pg_catalog."C",
    ADD COLUMN IF NOT EXISTS started_by text,
    ADD COLUMN IF NOT EXISTS expected bigint,
    ADD COLUMN IF NOT EXISTS walked_to text COLLATE pg_catalog."C" NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS walked_at timestamptz,
    ADD COLUMN IF NOT EXISTS due_at timestamptz,
    ADD COLUMN IF NOT EXISTS claimed_by text COLLATE pg_catalog."C",
    ADD COLUMN IF NOT EXISTS attempts integer NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS slots jsonb,
    ADD COLUMN IF NOT EXISTS problem text,
    ADD COLUMN IF NOT EXISTS cancelled_at timestamptz,
    ADD COLUMN IF NOT EXISTS failed_at timestamptz,
    ADD COLUMN IF NOT EXISTS resumed_at timestamptz;
COMMENT ON COLUMN notification.dispatch_batches.recipient_query IS 'Whom: a filter, a list, or both. As it was written.';
COMMENT ON COLUMN notification.dispatch_batches.rate_limit IS 'Pacing: people a minute, in all and by mail domain.';
COMMENT ON COLUMN notification.dispatch_batches.totals IS 'Its counts when nothing was under way any more.';
COMMENT ON COLUMN notification.dispatch_batches.local_time IS 'The hour at which each person is written to, in their zone.';
COMMENT ON COLUMN notification.dispatch_batches.send_window IS 'Hours and days that it is sent in, and whose zone they are of.';
COMMENT ON COLUMN notification.dispatch_batches.variants IS 'Shares of an A/B test: name, percentage, template. Their variables are sealed with the others.';
COMMENT ON COLUMN notification.dispatch_batches.expected IS 'How many people it had when it was started.';
COMMENT ON COLUMN notification.dispatch_batches.walked_to IS 'The last recipient that the runner has come to.';
COMMENT ON COLUMN notification.dispatch_batches.walked_at IS 'When the runner had come to the end.';
COMMENT ON COLUMN notification.dispatch_batches.due_at IS 'When the runner looks at it next. Null: never.';
COMMENT ON COLUMN notification.dispatch_batches.slots IS 'When the next message may go, in all and for each mail domain that is paced.';
COMMENT ON COLUMN notification.dispatch_batches.resumed_at IS 'Whose local hour fell into the pause before is written to at the next one.';
COMMENT ON COLUMN notification.dispatch_batches.problem IS 'Why it was paused or failed by itself, without anything personal.';
CREATE INDEX IF NOT EXISTS ix_dispatch_batches_due ON notification.dispatch_batches (due_at)
    WHERE due_at IS NOT NULL AND claimed_by IS NULL;
CREATE INDEX IF NOT EXISTS ix_dispatch_batches_claimed ON notification.dispatch_batches (claimed_by) WHERE claimed_by IS NOT NULL;
CALL kernel.store_as_queue('notification.dispatch_batches');
CALL kernel.open_to_worker('notification.dispatch_batches',
    'SELECT (tenant_id, id, status, due_at, claimed_by, completed_at), UPDATE (claimed_by)');

-- Its state changes twice after it was written; no index knows of the state, so that these changes stay on their page.
CREATE TABLE IF NOT EXISTS notification.batch_people (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    batch_id        TEXT COLLATE "C" NOT NULL,
    recipient_id    TEXT COLLATE "C" NOT NULL,
    variant         SMALLINT NOT NULL,
    state           TEXT COLLATE "C" NOT NULL,
    notification_id TEXT COLLATE "C",
    error_code      TEXT COLLATE "C",
    unread_answers  SMALLINT NOT NULL DEFAULT 0,
    send_at         TIMESTAMPTZ,
    CONSTRAINT pk_batch_people PRIMARY KEY (tenant_id, batch_id, recipient_id),
    CONSTRAINT ck_batch_people_state CHECK (state IN
        ('planned', 'accepted', 'refused', 'sent', 'delivered', 'bounced', 'failed', 'suppressed', 'expired', 'cancelled', 'superseded', 'withdrawn'))
) WITH (fillfactor = 70);
CREATE INDEX IF NOT EXISTS ix_batch_people_planned ON notification.batch_people (tenant_id, batch_id, send_at, recipient_id)
    WHERE send_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS ix_batch_people_unread ON notification.batch_people (tenant_id, batch_id, recipient_id)
    WHERE unread_answers > 0;
COMMENT ON TABLE notification.batch_people IS 'The ledger of a batch: each person once.';
COMMENT ON COLUMN notification.batch_people.variant IS 'Which share of the A/B test; 0: the batch as it is.';
COMMENT ON COLUMN notification.batch_people.unread_answers IS 'Calls of a vendor whose answer was never read: the message may have arrived once more.';
COMMENT ON COLUMN notification.batch_people.send_at IS 'When a message is made for them, while they are planned.';
CALL kernel.store_as_ledger('notification.batch_people');
CALL kernel.protect_tenant_table('notification.batch_people', 'SELECT, INSERT, UPDATE, DELETE');
CALL kernel.open_to_sets('notification.batch_people');
CALL kernel.open_to_worker('notification.batch_people', 'SELECT (tenant_id, batch_id, recipient_id), DELETE');

CREATE TABLE IF NOT EXISTS notification.batch_counts (
    tenant_id TEXT COLLATE "C" NOT NULL,
    batch_id  TEXT COLLATE "C" NOT NULL,
    variant   SMALLINT NOT NULL,
    name      TEXT COLLATE "C" NOT NULL,
    stripe    INTEGER NOT NULL,
    n         BIGINT NOT NULL,
    CONSTRAINT pk_batch_counts PRIMARY KEY (tenant_id, batch_id, variant, name, stripe)
) WITH (fillfactor = 50);
COMMENT ON TABLE notification.batch_counts IS 'How many people of a batch came to each state, counted in the transaction that brought them there.';
CALL kernel.store_as_ledger('notification.batch_counts');
COMMENT ON COLUMN notification.batch_counts.name IS 'Not personal: the name of a state.';
COMMENT ON COLUMN notification.batch_counts.stripe IS 'Writers of different stripes do not wait for each other; readers add them up.';
CALL kernel.protect_tenant_table('notification.batch_counts', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_sets('notification.batch_counts');

CREATE TABLE IF NOT EXISTS notification.batch_list (
    tenant_id    TEXT COLLATE "C" NOT NULL,
    batch_id     TEXT COLLATE "C" NOT NULL,
    recipient_id TEXT COLLATE "C" NOT NULL,
    CONSTRAINT pk_batch_list PRIMARY KEY (tenant_id, batch_id, recipient_id)
);
COMMENT ON TABLE notification.batch_list IS 'Whom a batch is for, where a file or a list names them.';
CALL kernel.protect_tenant_table('notification.batch_list', 'SELECT, INSERT, DELETE');
CALL kernel.open_to_worker('notification.batch_list', 'SELECT (tenant_id, batch_id, recipient_id), DELETE');

CALL kernel.assert_protected();
