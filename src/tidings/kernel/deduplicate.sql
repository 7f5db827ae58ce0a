-- name: claim_first_times
-- Whoever inserts the row applies the event. A second transaction with the same event waits for the first
-- one to end: after its commit it gets nothing, after its rollback it gets the event.
INSERT INTO {schema}.consumed_events (tenant_id, consumer_name, event_id, consumed_at, expires_at)
SELECT tenant_id, :consumer, event_id, :now, :expires_at
FROM unnest(:tenant_ids::text[], :event_ids::text[]) AS event (tenant_id, event_id)
ORDER BY event_id
ON CONFLICT (consumer_name, event_id) DO NOTHING
RETURNING event_id;

-- name: sweep_consumed_events
-- In chunks, so that no sweep holds its locks for long. Two sweepers at once only wait for each other.
DELETE FROM {schema}.consumed_events
WHERE (consumer_name, event_id) IN (
    SELECT consumer_name, event_id FROM {schema}.consumed_events
    WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit
);
