-- tidings: oldest-release=0.1.0
-- Where notify and the router run in different processes, notify announces a hand-over on the bus and the router takes it.
-- Notify keeps what it has announced until it knows that it was taken; the router enters what it takes, once.

CREATE TABLE IF NOT EXISTS notification.dispatch_requests (
    tenant_id       TEXT COLLATE "C" NOT NULL,
    notification_id TEXT COLLATE "C" NOT NULL,
    announced_at    TIMESTAMPTZ NOT NULL,
    look_at         TIMESTAMPTZ NOT NULL,
    announcements   INTEGER NOT NULL DEFAULT 1,
    request         TEXT NOT NULL,
    traceparent     TEXT,
    CONSTRAINT pk_dispatch_requests PRIMARY KEY (tenant_id, notification_id),
    CONSTRAINT ck_dispatch_requests_announcements CHECK (announcements >= 1)
);
CREATE INDEX IF NOT EXISTS ix_dispatch_requests_look ON notification.dispatch_requests (look_at);
COMMENT ON TABLE notification.dispatch_requests IS
    'Hand-overs that were announced on the bus, until a router is known to have taken them; empty where notify and router share a process.';
COMMENT ON COLUMN notification.dispatch_requests.request IS 'JSON, as it was announced: ids and facts.';
COMMENT ON COLUMN notification.dispatch_requests.look_at IS 'When the router is asked whether it has it; later after each announcement.';
CALL kernel.protect_tenant_table('notification.dispatch_requests', 'SELECT, INSERT, UPDATE');
CALL kernel.open_to_worker('notification.dispatch_requests', 'SELECT, DELETE');
CALL kernel.open_to_sets('notification.dispatch_requests');
CALL kernel.store_as_queue('notification.dispatch_requests');

COMMENT ON TABLE chan.delivery_inbox IS
    'Hand-overs that the router has taken from the bus, by their notification: one that is announced again begins no second execution.';
COMMENT ON COLUMN chan.delivery_inbox.message_id IS 'The notification: there is one hand-over for each.';
CALL kernel.open_to_sets('chan.delivery_inbox');

CALL kernel.assert_protected();
