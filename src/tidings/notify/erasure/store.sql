-- name: forget_recipient
-- Under the lock of the row. Language and time zone say something about a person too: the tenant's take their place.
UPDATE notification.recipients AS mine
SET identity_type = NULL, identity_id = NULL, display_name_ciphertext = NULL,
    primary_locale = tenant.default_locale, primary_timezone = tenant.default_timezone,
    tags = '{}', attributes = '{}'::jsonb, erased_at = :now, updated_at = :now, version = mine.version + 1
FROM notification.tenants_local AS tenant
WHERE mine.tenant_id = :tenant_id AND mine.id = :recipient_id AND tenant.tenant_id = mine.tenant_id;

-- name: forget_addresses
-- Whole rows: what has to outlive them is a suppression, which has a row of its own.
DELETE FROM notification.recipient_addresses
WHERE tenant_id = :tenant_id AND recipient_id = :recipient_id
RETURNING channel, address_hash;

-- name: forget_preferences
-- The row stays, because notifications name its version; nothing that was chosen does.
UPDATE notification.notification_preferences
SET locale = '', timezone = '', channels = '{}'::jsonb, quiet_hours = NULL, digest_schedule = '{}'::jsonb,
    marketing_consent = '{"granted": false}'::jsonb, guardian_routing = NULL, global_unsubscribed_at = NULL,
    updated_at = :now, version = version + 1
WHERE tenant_id = :tenant_id AND recipient_id = :recipient_id;

-- name: forget_digests
-- Before their notifications, and locked in one order, as a flusher takes both. Nothing joins any more; what a guardian would have got for
-- somebody else is decided anew at once.
WITH theirs AS MATERIALIZED (
    SELECT w.id FROM notification.digest_windows AS w
    WHERE w.tenant_id = :tenant_id AND w.recipient_id = :recipient_id
    ORDER BY w.category, w.channel, w.digest_key, w.is_test, w.id
    FOR UPDATE
)
UPDATE notification.digest_windows AS w
SET digest_key = '', state = CASE WHEN w.state = 'open' THEN 'flushing' ELSE w.state END, flush_at = least(w.flush_at, :now),
    updated_at = :now
FROM theirs
WHERE w.tenant_id = :tenant_id AND w.id = theirs.id;

-- name: forget_in_suppressions
-- By hash and not by channel: a number that is suppressed for sms may be the one they had for whatsapp. The hash stays and
-- goes on holding the address back; the copy under the tenant's own key, which is not destroyed, goes. What was refused from an
-- address goes on holding too, without the link that it was said by.
WITH unlinked AS (
    UPDATE notification.address_refusals AS said
    SET evidence = NULL
    FROM (SELECT DISTINCT hash FROM unnest(:hashes::text[]) AS given (hash)) AS theirs
    WHERE said.tenant_id = :tenant_id AND said.address_hash = theirs.hash AND said.evidence IS NOT NULL
)
UPDATE notification.suppressions AS mine
SET address_ciphertext = NULL, notes = NULL
FROM (SELECT DISTINCT hash FROM unnest(:hashes::text[]) AS given (hash)) AS theirs
WHERE mine.tenant_id = :tenant_id AND mine.address_hash = theirs.hash
RETURNING mine.id, mine.released_at;

-- name: survey_notifications
-- One walk over all that this person was ever sent, by ix_notifications_recipient; see `look_back_at_recipient`.
SELECT count(*) AS total,
       count(*) FILTER (WHERE metadata IS NOT NULL OR correlation_id IS NOT NULL OR digest_key IS NOT NULL) AS with_metadata,
       coalesce(array_agg(id ORDER BY id) FILTER (WHERE status IN ('queued', 'scheduled')), '{}') AS waiting,
       coalesce(array_agg(id ORDER BY id) FILTER (WHERE status = 'dispatched'), '{}') AS under_way,
       coalesce(array_agg(id ORDER BY id) FILTER (WHERE dispatched_at IS NOT NULL AND status <> 'dispatched'), '{}') AS over
FROM notification.notifications
WHERE tenant_id = :tenant_id AND recipient_id >= :recipient_id AND recipient_id <= :recipient_id;

-- name: find_recent
-- Theirs that something happened to lately; what was accepted long ago may have been sent yesterday.
SELECT id FROM notification.notifications
WHERE tenant_id = :tenant_id AND recipient_id >= :recipient_id AND recipient_id <= :recipient_id AND updated_at > :since
ORDER BY id;

-- name: forget_metadata
-- The caller's own words beside a notification; not for personal data, but that can't be known. What they were found by goes too.
WITH unfound AS (
    DELETE FROM notification.searchable_metadata AS mine
    USING notification.notifications AS n
    WHERE n.tenant_id = :tenant_id AND n.recipient_id >= :recipient_id AND n.recipient_id <= :recipient_id
      AND n.metadata IS NOT NULL
      AND mine.tenant_id = :tenant_id AND mine.notification_id = n.id AND mine.created_at = n.created_at
)
UPDATE notification.notifications
SET metadata = NULL, correlation_id = NULL, digest_key = NULL
WHERE tenant_id = :tenant_id AND recipient_id >= :recipient_id AND recipient_id <= :recipient_id
  AND (metadata IS NOT NULL OR correlation_id IS NOT NULL OR digest_key IS NOT NULL);

-- name: stop_waiting
-- As when one is cancelled: the queue's row goes first and the notification's after it, in the order in which a worker's turn
-- takes them. A dispatcher that hands one over just now wins: it is not among those returned, and nothing was written for it.
WITH given AS (
    SELECT *
    FROM unnest(
        :ids::text[], :created_ats::timestamptz[], :event_ids::text[], :event_subjects::text[], :event_payloads::text[],
        :event_envelopes::text[]
    ) AS g (id, created_at, event_id, event_subject, event_payload, event_envelope)
), left_queue AS (
    DELETE FROM notification.dispatch_queue AS q USING given
    WHERE q.tenant_id = :tenant_id AND q.notification_id = given.id
    RETURNING q.notification_id
), waiting AS MATERIALIZED (
    SELECT given.*
    FROM given
    CROSS JOIN LATERAL (
        SELECT n.id AS there FROM notification.notifications AS n
        WHERE n.tenant_id = :tenant_id AND n.created_at = given.created_at AND n.id = given.id
          AND n.status IN ('queued', 'scheduled')
          AND (SELECT count(*) FROM left_queue) >= 0
        FOR UPDATE
    ) AS held
), stopped AS (
    UPDATE notification.notifications AS n
    SET status = 'suppressed', suppressed_at = :now, suppression_reason = :reason, updated_at = :now,
        decision_trace = concat_ws(';', nullif(n.decision_trace, ''), CAST(:trace AS text)), version = n.version + 1
    FROM waiting
    WHERE n.tenant_id = :tenant_id AND n.created_at = waiting.created_at AND n.id = waiting.id
    RETURNING n.id, n.recipient_id, n.batch_id, n.status, n.channel, n.category, waiting.event_id, waiting.event_subject, waiting.event_payload,
              waiting.event_envelope
), left_schedule AS (
    UPDATE notification.notification_scheduled AS s SET obsolete = true, processed_at = :now, updated_at = :now
    FROM stopped
    WHERE s.tenant_id = :tenant_id AND s.notification_id = stopped.id AND s.processed_at IS NULL AND NOT s.obsolete
), announced AS (
    INSERT INTO notification.outbox (id, tenant_id, subject, ordering_key, payload, envelope)
    SELECT event_id, :tenant_id, event_subject, id, event_payload, event_envelope FROM stopped
), in_batch AS (
    -- Of a batch: its ledger and its totals go along. Before the counts, so that all writers take the two in one order.
    UPDATE notification.batch_people AS person
    SET state = stopped.status, error_code = :reason
    FROM stopped
    WHERE stopped.batch_id IS NOT NULL AND person.tenant_id = :tenant_id AND person.batch_id = stopped.batch_id
      AND person.recipient_id = stopped.recipient_id
    RETURNING person.tenant_id, person.batch_id, person.variant, person.state
), batch_totals AS (
    INSERT INTO notification.batch_counts AS known (tenant_id, batch_id, variant, name, stripe, n)
    SELECT tenant_id, batch_id, variant, state, :stripe, count(*)
    FROM in_batch
    GROUP BY tenant_id, batch_id, variant, state
    ORDER BY tenant_id, batch_id, variant, state
    ON CONFLICT ON CONSTRAINT pk_batch_counts DO UPDATE SET n = known.n + excluded.n
), counted AS (
    INSERT INTO notification.counters AS known (tenant_id, day, stripe, name, channel, category, n)
    SELECT :tenant_id, :day, :stripe, 'suppressed', channel, category, count(*)
    FROM stopped
    GROUP BY channel, category
    ORDER BY channel, category
    ON CONFLICT (tenant_id, day, stripe, name, channel, category) DO UPDATE SET n = known.n + excluded.n
)
SELECT id FROM stopped;

-- name: forget_planned
-- What is planned for them, or has failed and could be tried again, is not sent any more; the orders go at once.
WITH over AS (
    UPDATE notification.notification_scheduled AS s
    SET obsolete = true, obsolete_reason = 'erased', processed_at = :now, failed_at = NULL, payload_ciphertext = NULL,
        claimed_by = NULL, claimed_until = NULL, updated_at = :now
    WHERE s.tenant_id = :tenant_id AND s.recipient_id = :recipient_id AND s.payload_ciphertext IS NOT NULL
    RETURNING s.id, s.source_event_id
)
UPDATE notification.trigger_firings AS f SET result = 'obsolete', reason = 'erased'
FROM over
WHERE f.tenant_id = :tenant_id AND f.event_id = over.source_event_id AND f.scheduled_id = over.id;

-- name: insert_receipt
-- One for each recipient; the row is never changed.
INSERT INTO notification.erasures (tenant_id, id, recipient_id, erased_at, statement, key_id, signature)
VALUES (:tenant_id, :id, :recipient_id, :erased_at, :statement, :key_id, :signature);

-- name: find_receipt
-- By its unique key.
SELECT id, recipient_id, erased_at, statement, key_id, signature
FROM notification.erasures WHERE tenant_id = :tenant_id AND recipient_id = :recipient_id;
