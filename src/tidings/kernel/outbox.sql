-- name: append_events
-- One statement for any number of events, in the caller's transaction: the change and its announcement
-- commit together. The rows are numbered in the order of the arrays.
INSERT INTO {schema}.outbox (id, tenant_id, subject, ordering_key, payload, envelope)
SELECT id, coalesce(event.tenant_id, :tenant_id), subject, ordering_key, payload, envelope
FROM unnest(
    :ids::text[], :tenant_ids::text[], :subjects::text[], :ordering_keys::text[], :payloads::text[], :envelopes::text[]
) WITH ORDINALITY AS event (id, tenant_id, subject, ordering_key, payload, envelope, place)
ORDER BY place;
