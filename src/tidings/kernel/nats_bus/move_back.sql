-- name: lowest_cursor
-- What all groups have read need not be copied. Without a group nobody waits for anything.
SELECT coalesce(min(position), 0) FROM kernel.bus_consumers;

-- name: copy_events
-- At their own places: each group goes on where it is. Copies count as published now, and are kept for seven days from here.
INSERT INTO kernel.bus_events
    (position, published_at, id, tenant_id, subject, ordering_key, payload, envelope, applied_by)
SELECT position, (SELECT clock_timestamp()), id, tenant_id, subject, ordering_key, payload, envelope, applied_by
FROM unnest(
    :positions::bigint[], :ids::text[], :tenant_ids::text[], :subjects::text[], :ordering_keys::text[],
    :payloads::text[], :envelopes::text[], :applied_by::text[]
) AS event (position, id, tenant_id, subject, ordering_key, payload, envelope, applied_by);

-- name: move_to_postgres
-- Numbers in Postgres go on after the last one of NATS. They are taken one by one: no role of the product may set the sequence.
WITH moved AS (
    UPDATE kernel.bus_stream SET engine = 'postgres', moved_at = now() WHERE engine = 'nats' RETURNING last_position
)
SELECT max(nextval('kernel.bus_positions'))
FROM moved CROSS JOIN LATERAL generate_series(
    (SELECT nextval('kernel.bus_positions')), greatest(:last_position::bigint, moved.last_position)
);
