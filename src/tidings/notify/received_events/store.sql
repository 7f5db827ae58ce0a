-- name: insert_received_events
-- A whole set in one trip, of many tenants: those that are new have their entry in the ledger, their row and their event, and get
-- their id back. Of two that come at once the second waits for the first, and then is none that is new. The test against the
-- entries is a hashed list and no join: without the statistics of a set, a join compares each with each.
WITH given AS (
    SELECT *
    FROM unnest(
        :tenant_ids::text[], :ids::text[], :identity_hashes::bytea[], :received_ats::timestamptz[], :sources::text[],
        :source_event_ids::text[], :types::text[], :subjects::text[], :happened_ats::timestamptz[], :are_tests::boolean[],
        :contents::bytea[], :ordering_keys::text[], :event_subjects::text[], :event_payloads::text[], :event_envelopes::text[]
    ) WITH ORDINALITY AS one (
        tenant_id, id, identity_hash, received_at, source, source_event_id, type, subject, happened_at, is_test, content,
        ordering_key, event_subject, event_payload, event_envelope, place
    )
), entered AS (
    INSERT INTO notification.received_event_ledger (tenant_id, identity_hash, event_id, expires_at)
    SELECT tenant_id, identity_hash, id, :expires_at FROM given ORDER BY tenant_id, identity_hash
    ON CONFLICT ON CONSTRAINT pk_received_event_ledger DO NOTHING
    RETURNING event_id
), fresh AS MATERIALIZED (
    SELECT * FROM given WHERE (id IN (SELECT event_id FROM entered)) IS TRUE
), stored AS (
    INSERT INTO notification.received_events
        (tenant_id, id, received_at, source, source_event_id, type, subject, happened_at, is_test, content_ciphertext)
    SELECT tenant_id, id, received_at, source, source_event_id, type, subject, happened_at, is_test, content FROM fresh
), announced AS (
    INSERT INTO notification.outbox (id, tenant_id, subject, ordering_key, payload, envelope)
    SELECT id, tenant_id, event_subject, ordering_key, event_payload, event_envelope FROM fresh ORDER BY place
)
SELECT event_id FROM entered;

-- name: enter_ledger
-- For events that have no row of their own: those that get their id back are new.
INSERT INTO notification.received_event_ledger (tenant_id, identity_hash, event_id, expires_at)
SELECT tenant_id, identity_hash, event_id, :expires_at
FROM unnest(:tenant_ids::text[], :identity_hashes::bytea[], :ids::text[]) AS given (tenant_id, identity_hash, event_id)
ORDER BY tenant_id, identity_hash
ON CONFLICT ON CONSTRAINT pk_received_event_ledger DO NOTHING
RETURNING event_id;

-- name: find_in_ledger
-- A statement of its own, after the attempt to enter: it sees what was committed while we waited.
SELECT wanted.place, entry.event_id
FROM unnest(:places::integer[], :tenant_ids::text[], :identity_hashes::bytea[]) AS wanted (place, tenant_id, identity_hash)
CROSS JOIN LATERAL (
    SELECT known.event_id FROM notification.received_event_ledger AS known
    WHERE known.tenant_id = wanted.tenant_id AND known.identity_hash = wanted.identity_hash
    OFFSET 0
) AS entry;

-- name: load_received_events
-- Each by its tenant and its id; the time inside the id says which day it is in. What they say comes along as long as all
-- of it together is not too much, and that of the first one always.
SELECT event.tenant_id, event.id, event.source, event.source_event_id, event.type, event.subject, event.happened_at,
    event.is_test,
    CASE WHEN wanted.place = 1 OR sum(octet_length(event.content_ciphertext)) OVER (ORDER BY wanted.place) <= :most_bytes
         THEN event.content_ciphertext END AS content_ciphertext
FROM unnest(:tenant_ids::text[], :ids::text[], :received_ats::timestamptz[])
    WITH ORDINALITY AS wanted (tenant_id, id, received_at, place)
CROSS JOIN LATERAL (
    SELECT * FROM notification.received_events AS known
    WHERE known.tenant_id = wanted.tenant_id AND known.id = wanted.id AND known.received_at = wanted.received_at
    OFFSET 0
) AS event;

-- name: look_back
-- Looks at so many events, the newest first, and says which of them fit: no filter can make it read more than that.
WITH seen AS MATERIALIZED (
    SELECT event.id,
           (NOT CAST(:tests_only AS boolean) OR event.is_test)
           AND (CAST(:type AS text) IS NULL OR event.type = :type)
           AND (CAST(:source AS text) IS NULL OR event.source = :source)
           AND (CAST(:subject AS text) IS NULL OR event.subject = :subject) AS fits
    FROM notification.received_events AS event
    WHERE event.tenant_id = :tenant_id AND event.id < :before_id AND event.received_at <= :before_at
    ORDER BY event.id DESC
    LIMIT :most
)
SELECT count(*) AS looked_at, min(id) AS last_id,
       coalesce(array_agg(id ORDER BY id DESC) FILTER (WHERE fits), '{}') AS ids
FROM seen;

-- name: find_received_events
-- These, by id: the time inside it says which day it is in.
SELECT event.tenant_id, event.id, event.source, event.source_event_id, event.type, event.subject, event.happened_at, event.is_test
FROM unnest(:ids::text[], :received_ats::timestamptz[]) AS wanted (id, received_at)
CROSS JOIN LATERAL (
    SELECT * FROM notification.received_events AS known
    WHERE known.tenant_id = :tenant_id AND known.id = wanted.id AND known.received_at = wanted.received_at
    OFFSET 0
) AS event;

-- name: sweep_ledger
-- The oldest first, about so many at a time, across tenants.
DELETE FROM notification.received_event_ledger
WHERE expires_at <= (
    SELECT max(oldest.expires_at)
    FROM (
        SELECT expires_at FROM notification.received_event_ledger WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit
    ) AS oldest
);
