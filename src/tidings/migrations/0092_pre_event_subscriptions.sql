-- tidings: oldest-release=0.1.0
-- Subscriptions to what other systems publish on the broker: which subjects, whose events they are, how far each is read, and
-- messages that were refused. All of it is the platform's: a broker's subjects are no tenant's.

CREATE TABLE IF NOT EXISTS notification_platform.event_subscriptions (
    id          TEXT COLLATE "C" NOT NULL,
    name        TEXT COLLATE "C" NOT NULL,
    subject     TEXT COLLATE "C" NOT NULL,
    for_tenant  TEXT COLLATE "C",
    tenant_word INTEGER,
    is_test     BOOLEAN NOT NULL,
    may_erase   BOOLEAN NOT NULL,
    since       TIMESTAMPTZ,
    enabled     BOOLEAN NOT NULL,
    version     INTEGER NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    deleted_at  TIMESTAMPTZ,
    CONSTRAINT pk_event_subscriptions PRIMARY KEY (id),
    CONSTRAINT ck_event_subscriptions_id CHECK (id LIKE 'evs\_%' AND length(id) = 30),
    CONSTRAINT ck_event_subscriptions_tenant CHECK (num_nonnulls(for_tenant, tenant_word) <= 1),
    CONSTRAINT ck_event_subscriptions_word CHECK (tenant_word > 0)
);
CREATE UNIQUE INDEX IF NOT EXISTS ux_event_subscriptions_name ON notification_platform.event_subscriptions (name)
    WHERE deleted_at IS NULL;
COMMENT ON TABLE notification_platform.event_subscriptions IS 'Subjects of the broker whose messages are events that come in.';
COMMENT ON COLUMN notification_platform.event_subscriptions.name IS 'Not personal: what operators call it.';
COMMENT ON COLUMN notification_platform.event_subscriptions.for_tenant IS 'All of its messages are this tenant''s.';
COMMENT ON COLUMN notification_platform.event_subscriptions.tenant_word IS
    'Which word of a message''s subject, counted from 1, has the tenant''s id or slug. Null beside no for_tenant: events about tenants.';
COMMENT ON COLUMN notification_platform.event_subscriptions.is_test IS 'What comes is a test, as with a test key.';
COMMENT ON COLUMN notification_platform.event_subscriptions.may_erase IS 'Whether iam.user.deleted.v1 is taken, which erases a person.';
COMMENT ON COLUMN notification_platform.event_subscriptions.since IS 'Messages since then; null: all that the stream had.';
COMMENT ON COLUMN notification_platform.event_subscriptions.deleted_at IS 'The row goes when the broker has forgotten it too.';
CALL kernel.protect_service_table('notification_platform.event_subscriptions');
CALL kernel.open_to_platform('notification_platform.event_subscriptions', 'SELECT, INSERT, UPDATE, DELETE');
CALL kernel.narrow_by_caller_role('notification_platform.event_subscriptions');
DROP TRIGGER IF EXISTS announce_change ON notification_platform.event_subscriptions;
CREATE TRIGGER announce_change AFTER INSERT OR UPDATE OR DELETE ON notification_platform.event_subscriptions
    FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('id');

CREATE TABLE IF NOT EXISTS notification_platform.event_subscription_progress (
    subscription_id  TEXT COLLATE "C" NOT NULL,
    stream           TEXT COLLATE "C",
    own_stream       BOOLEAN NOT NULL DEFAULT false,
    position         BIGINT NOT NULL DEFAULT 0,
    accepted         BIGINT NOT NULL DEFAULT 0,
    repeated         BIGINT NOT NULL DEFAULT 0,
    refused          BIGINT NOT NULL DEFAULT 0,
    waiting          BIGINT NOT NULL DEFAULT 0,
    last_received_at TIMESTAMPTZ,
    last_refused_at  TIMESTAMPTZ,
    last_refusal     TEXT COLLATE "C",
    problem          TEXT,
    problem_since    TIMESTAMPTZ,
    CONSTRAINT pk_event_subscription_progress PRIMARY KEY (subscription_id),
    CONSTRAINT fk_event_subscription_progress_subscription FOREIGN KEY (subscription_id)
        REFERENCES notification_platform.event_subscriptions (id) ON DELETE CASCADE
) WITH (fillfactor = 50);
COMMENT ON TABLE notification_platform.event_subscription_progress IS 'How far each subscription is read, and what came of its messages.';
COMMENT ON COLUMN notification_platform.event_subscription_progress.stream IS 'Where the broker keeps its messages.';
COMMENT ON COLUMN notification_platform.event_subscription_progress.own_stream IS 'Tidings made that stream, because there was none.';
COMMENT ON COLUMN notification_platform.event_subscription_progress.position IS 'The last place on that stream that is done with.';
COMMENT ON COLUMN notification_platform.event_subscription_progress.repeated IS 'Events that had come before; some are counted here after a crash.';
COMMENT ON COLUMN notification_platform.event_subscription_progress.waiting IS 'Messages that the broker still had, when it last said so.';
COMMENT ON COLUMN notification_platform.event_subscription_progress.last_refusal IS 'The code of the last refusal.';
COMMENT ON COLUMN notification_platform.event_subscription_progress.problem IS 'Why it can''t be read now, without anything of a message.';
CALL kernel.protect_service_table('notification_platform.event_subscription_progress');
CALL kernel.open_to_platform('notification_platform.event_subscription_progress', 'SELECT, INSERT, UPDATE');

CREATE TABLE IF NOT EXISTS notification_platform.event_subscription_refusals (
    subscription_id    TEXT COLLATE "C" NOT NULL,
    id                 TEXT COLLATE "C" NOT NULL,
    stream             TEXT COLLATE "C" NOT NULL,
    position           BIGINT NOT NULL,
    refused_at         TIMESTAMPTZ NOT NULL,
    size               INTEGER NOT NULL,
    code               TEXT COLLATE "C" NOT NULL,
    field              TEXT COLLATE "C" NOT NULL,
    remedy             TEXT NOT NULL,
    content_ciphertext BYTEA,
    CONSTRAINT pk_event_subscription_refusals PRIMARY KEY (subscription_id, id),
    CONSTRAINT uq_event_subscription_refusals_place UNIQUE (subscription_id, stream, position),
    CONSTRAINT ck_event_subscription_refusals_id CHECK (id LIKE 'rfm\_%' AND length(id) = 30),
    CONSTRAINT fk_event_subscription_refusals_subscription FOREIGN KEY (subscription_id)
        REFERENCES notification_platform.event_subscriptions (id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS ix_event_subscription_refusals_age ON notification_platform.event_subscription_refusals (refused_at);
COMMENT ON TABLE notification_platform.event_subscription_refusals IS
    'Messages that are no event of a tenant, with the reason: the newest thousand of each subscription, for eight days.';
COMMENT ON COLUMN notification_platform.event_subscription_refusals.position IS 'Its place on the stream.';
COMMENT ON COLUMN notification_platform.event_subscription_refusals.size IS 'Bytes of its content.';
COMMENT ON COLUMN notification_platform.event_subscription_refusals.field IS 'The attribute of CloudEvents that is wrong; empty: the message as a whole.';
COMMENT ON COLUMN notification_platform.event_subscription_refusals.remedy IS 'What is wrong, without anything of the message.';
COMMENT ON COLUMN notification_platform.event_subscription_refusals.content_ciphertext IS
    'Subject, headers and data, under a key of the platform''s; null where it is larger than an event may be.';
CALL kernel.protect_service_table('notification_platform.event_subscription_refusals');
CALL kernel.open_to_platform('notification_platform.event_subscription_refusals', 'SELECT, INSERT, UPDATE, DELETE');

CALL kernel.assert_protected();
