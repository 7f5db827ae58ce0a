-- name: announce
-- The request is kept and announced in one statement. One that was announced before is not announced here again: `untaken.sql` does that.
WITH kept AS (
    INSERT INTO notification.dispatch_requests (tenant_id, notification_id, announced_at, look_at, request, traceparent)
    SELECT given.tenant_id, given.notification_id, :now, :look_at, given.request, given.traceparent
    FROM unnest(:tenant_ids::text[], :notification_ids::text[], :requests::text[], :traceparents::text[])
        AS given (tenant_id, notification_id, request, traceparent)
    ON CONFLICT (tenant_id, notification_id) DO NOTHING
    RETURNING tenant_id, notification_id
)
INSERT INTO notification.outbox (id, tenant_id, subject, ordering_key, payload, envelope)
SELECT given.event_id, given.tenant_id, :subject, given.notification_id, given.request, given.envelope
FROM unnest(:tenant_ids::text[], :notification_ids::text[], :event_ids::text[], :requests::text[], :envelopes::text[])
    WITH ORDINALITY AS given (tenant_id, notification_id, event_id, request, envelope, place)
-- A join would be planned for one row and take the square of the set; this looks each up in a hash.
WHERE (given.notification_id IN (SELECT notification_id FROM kept)) IS TRUE
ORDER BY given.place;
