-- name: park_events
-- Set aside with a copy, so that the stream may drop its day.
INSERT INTO kernel.bus_parked
    (group_name, position, tenant_id, lane, envelope, payload, attempts, next_attempt_at, last_error, parked_at)
SELECT :group, position, tenant_id, lane, envelope, payload, attempts, next_attempt_at, last_error, :now
FROM unnest(
    :positions::bigint[], :tenant_ids::text[], :lanes::text[], :envelopes::text[], :payloads::text[],
    :attempts::integer[], :next_attempts::timestamptz[], :errors::text[]
) AS event (position, tenant_id, lane, envelope, payload, attempts, next_attempt_at, last_error)
ON CONFLICT (group_name, position) DO NOTHING;

-- name: due_events
-- The first event of a lane decides when the lane is tried; those behind it come along, in order.
WITH heads AS (
    SELECT lane FROM kernel.bus_parked AS head
    WHERE group_name = :group AND next_attempt_at <= :now AND NOT EXISTS (
        SELECT FROM kernel.bus_parked AS earlier
        WHERE earlier.group_name = :group AND earlier.lane = head.lane AND earlier.position < head.position
    )
    ORDER BY next_attempt_at LIMIT :lanes
)
SELECT follower.position, follower.envelope, follower.payload, follower.attempts,
    follower.next_attempt_at > :now AS later
FROM heads CROSS JOIN LATERAL (
    SELECT position, envelope, payload, attempts, next_attempt_at FROM kernel.bus_parked
    WHERE group_name = :group AND lane = heads.lane
    ORDER BY position LIMIT :per_lane
) AS follower
ORDER BY heads.lane, follower.position;

-- name: parked_lanes
-- Which of these lanes have an event set aside; those that arrive wait behind it.
SELECT DISTINCT lane FROM kernel.bus_parked WHERE group_name = :group AND lane = ANY(:lanes::text[]);

-- name: postpone_events
-- Failed again: later, with one attempt more.
UPDATE kernel.bus_parked AS parked
SET attempts = failed.attempts, next_attempt_at = failed.next_attempt_at, last_error = failed.last_error
FROM unnest(:positions::bigint[], :attempts::integer[], :next_attempts::timestamptz[], :errors::text[])
    AS failed (position, attempts, next_attempt_at, last_error)
WHERE parked.group_name = :group AND parked.position = failed.position;

-- name: unpark_events
-- They had their effect.
DELETE FROM kernel.bus_parked WHERE group_name = :group AND position = ANY(:positions::bigint[]);

-- name: bury_events
-- No attempts left: out of the lane, kept for a person to look at.
WITH given_up AS (
    DELETE FROM kernel.bus_parked WHERE group_name = :group AND position = ANY(:positions::bigint[])
    RETURNING position, tenant_id, lane, envelope, payload, attempts, last_error
)
INSERT INTO kernel.dead_letters
    (id, group_name, position, event_id, tenant_id, subject, lane, envelope, payload, attempts, error, died_at, expires_at)
SELECT letter.id, :group, given_up.position, letter.event_id, tenant_id, letter.subject, lane, envelope, payload,
    attempts, coalesce(last_error, 'unknown'), :now, :expires_at
FROM given_up
JOIN unnest(:positions::bigint[], :ids::text[], :event_ids::text[], :subjects::text[])
    AS letter (position, id, event_id, subject) USING (position);

-- name: promote_lanes
-- Whoever is first in these lanes now need not wait any longer for the one that was.
UPDATE kernel.bus_parked AS head SET next_attempt_at = :now
WHERE group_name = :group AND lane = ANY(:lanes::text[]) AND next_attempt_at IS NULL AND NOT EXISTS (
    SELECT FROM kernel.bus_parked AS earlier
    WHERE earlier.group_name = :group AND earlier.lane = head.lane AND earlier.position < head.position
);
