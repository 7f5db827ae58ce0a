-- name: waiting_events
-- The lowest visible numbers first, as ADR 4 has it, with where the stream is, even if nothing waits: this statement sees it,
-- because a move of the stream takes the relays' lock.
SELECT waiting.seq, waiting.id, waiting.tenant_id, waiting.subject, waiting.ordering_key, waiting.payload,
    waiting.envelope, waiting.applied_by, place.engine, place.last_position
FROM kernel.bus_stream AS place LEFT JOIN LATERAL (
    SELECT seq, id, tenant_id, subject, ordering_key, payload, envelope, applied_by
    FROM {schema}.outbox WHERE seq > :settled ORDER BY seq LIMIT :limit
) AS waiting ON true
ORDER BY waiting.seq;

-- name: confirm_events
-- Only those that NATS has confirmed, one by one: a writer with a lower number may have committed meanwhile. That they are
-- gone need not be on disk: one that comes back is published again, and known by its id.
WITH gone AS (
    DELETE FROM {schema}.outbox WHERE seq = ANY(:seqs::bigint[]) RETURNING enqueued_at
),
confirmed AS (
    UPDATE kernel.bus_stream SET last_position = greatest(last_position, :last_position::bigint)
)
SELECT coalesce(extract(epoch FROM clock_timestamp() - min(enqueued_at)), 0)::float8 AS lag_seconds FROM gone;
