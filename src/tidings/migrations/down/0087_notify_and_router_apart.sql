-- Emergency only: undoes 0087_pre_notify_and_router_apart. Hand-overs that were announced and not yet taken stay on the bus.
DROP TABLE IF EXISTS notification.dispatch_requests;
DROP POLICY IF EXISTS tenant_sets ON chan.delivery_inbox;
COMMENT ON COLUMN chan.delivery_inbox.message_id IS NULL;
COMMENT ON TABLE chan.delivery_inbox IS
    'Not used yet: dispatch requests already taken, by the message that brought them, where notify and router run apart.';
