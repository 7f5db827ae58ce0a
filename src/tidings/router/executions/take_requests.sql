-- name: enter_requests
-- Those that are new. A second announcement of the same hand-over falls out here, also long after its execution has ended.
INSERT INTO chan.delivery_inbox (tenant_id, message_id, notification_id, recipient_id, received_at)
SELECT given.tenant_id, given.notification_id, given.notification_id, given.recipient_id, :now
FROM unnest(:tenant_ids::text[], :notification_ids::text[], :recipient_ids::text[])
    AS given (tenant_id, notification_id, recipient_id)
ON CONFLICT (tenant_id, message_id) DO NOTHING
RETURNING tenant_id, notification_id;

-- name: find_taken
-- Which of them were taken, whether their executions are under way or over.
SELECT inbox.tenant_id, inbox.notification_id
FROM unnest(:tenant_ids::text[], :ids::text[]) AS wanted (tenant_id, id)
CROSS JOIN LATERAL (
    SELECT tenant_id, notification_id FROM chan.delivery_inbox
    WHERE tenant_id = wanted.tenant_id AND message_id = wanted.id
    OFFSET 0
) AS inbox;

-- name: wake_routers
-- Heard when the executions are committed, and not before.
SELECT pg_notify('tidings_executions', 'due');
