-- part: columns
tenant_id, id, name, status, template_key, channel, category, priority, recipient_query, variables_ciphertext, scheduled_for, local_time,
       send_window, rate_limit, variants, needs_approval, created_by, changed_by, created_at, updated_at, version, approved_by, approved_at, cloned_from,
       started_by, started_at, paused_at, resumed_at, completed_at, cancelled_at, failed_at, expected, walked_to, walked_at, due_at,
       attempts, slots, problem

-- part: person
-- The zone that they chose, or else the one that is known of them. In the order of ids, which is that of the key: from one page to
-- the next nothing is read twice.
r.id, coalesce((
    SELECT chose.timezone FROM notification.notification_preferences AS chose
    WHERE chose.tenant_id = r.tenant_id AND chose.recipient_id = r.id
), r.primary_timezone) AS timezone

-- part: those_meant
-- Whoever came after the start is not in it; erased people never are. A condition may take the place of TRUE.
r.tenant_id = :tenant_id AND r.id > :after AND r.created_at <= :as_of AND r.erased_at IS NULL AND (TRUE)

-- name: insert_batch
-- A draft; nothing looks at it before it is started.
INSERT INTO notification.dispatch_batches (
    tenant_id, id, name, template_key, channel, category, priority, recipient_query, variables_ciphertext, scheduled_for, local_time,
    send_window, rate_limit, variants, needs_approval, created_by, changed_by, cloned_from, created_at, updated_at
)
VALUES (
    :tenant_id, :id, :name, :template_key, :channel, :category, :priority, :recipient_query::jsonb, :variables_ciphertext,
    :scheduled_for, :local_time, :send_window::jsonb, :rate_limit::jsonb, :variants::jsonb, :needs_approval, :created_by, :changed_by,
    :cloned_from, :created_at, :created_at
);

-- name: update_draft
-- Whole. An approval was for what it said before.
UPDATE notification.dispatch_batches
SET name = :name, template_key = :template_key, channel = :channel, category = :category, priority = :priority,
    recipient_query = :recipient_query::jsonb, variables_ciphertext = :variables_ciphertext, scheduled_for = :scheduled_for,
    local_time = :local_time, send_window = :send_window::jsonb, rate_limit = :rate_limit::jsonb, variants = :variants::jsonb,
    needs_approval = :needs_approval, changed_by = :changed_by, approved_by = NULL, approved_at = NULL, updated_at = :now,
    version = version + 1
WHERE tenant_id = :tenant_id AND id = :id AND status = 'draft';

-- name: find_batch
-- By its key.
SELECT {columns} FROM notification.dispatch_batches WHERE tenant_id = :tenant_id AND id = :id;

-- name: lock_batch
-- Whoever changes its state, and the runner for as long as it makes messages: a pause waits for the chunk that is under way.
SELECT {columns} FROM notification.dispatch_batches WHERE tenant_id = :tenant_id AND id = :id FOR NO KEY UPDATE;

-- name: lock_claimed
-- For the runner that has claimed it, and for no other.
SELECT {columns} FROM notification.dispatch_batches
WHERE tenant_id = :tenant_id AND id = :id AND claimed_by = :worker FOR NO KEY UPDATE;

-- name: find_paced
-- Of batches that run, of whatever tenants: how quickly their messages go through vendors and accounts. Each by its key.
SELECT given.tenant_id, given.id, mine.rate_limit AS pacing, mine.send_window AS window, mine.started_at, tenant.default_timezone
FROM unnest(:tenant_ids::text[], :ids::text[]) AS given (tenant_id, id)
CROSS JOIN LATERAL (
    SELECT b.rate_limit, b.send_window, b.started_at FROM notification.dispatch_batches AS b
    WHERE b.tenant_id = given.tenant_id AND b.id = given.id AND b.rate_limit IS NOT NULL AND b.started_at IS NOT NULL
    OFFSET 0
) AS mine
JOIN notification.tenants_local AS tenant ON tenant.tenant_id = given.tenant_id;

-- name: list_batches
-- The newest first; ids begin with their time, so the key's own order serves.
SELECT {columns} FROM notification.dispatch_batches
WHERE tenant_id = :tenant_id
  AND (CAST(:after_id AS text) IS NULL OR id < :after_id)
  AND (CAST(:status AS text) IS NULL OR status = :status)
ORDER BY id DESC
LIMIT :limit;

-- name: set_status
-- Under its lock: what a change of state brings along. What is not given stays.
UPDATE notification.dispatch_batches
SET status = :status, due_at = :due_at, problem = :problem, updated_at = :now, version = version + 1, attempts = 0,
    started_by = coalesce(:started_by, started_by),
    started_at = coalesce(:started_at, started_at),
    expected = coalesce(:expected, expected),
    paused_at = CASE WHEN :status = 'paused' THEN :now ELSE paused_at END,
    resumed_at = coalesce(:resumed_at, resumed_at),
    cancelled_at = CASE WHEN :status = 'cancelled' THEN :now ELSE cancelled_at END,
    failed_at = CASE WHEN :status = 'failed' THEN :now ELSE failed_at END,
    -- A batch that has ended before its time goes through its ledger once more.
    walked_to = CASE WHEN :status IN ('cancelled', 'failed') THEN '' ELSE walked_to END
WHERE tenant_id = :tenant_id AND id = :id;

-- name: set_approval
-- Under its lock.
UPDATE notification.dispatch_batches
SET approved_by = :approved_by, approved_at = :now, updated_at = :now, version = version + 1
WHERE tenant_id = :tenant_id AND id = :id;

-- name: set_listed
-- Under its lock: it is for those of a list, and the list grows. An approval was for others.
UPDATE notification.dispatch_batches
SET recipient_query = recipient_query || jsonb_build_object('listed', true, 'variables', to_jsonb(:variables::text[])), changed_by = :changed_by, approved_by = NULL, approved_at = NULL,
    updated_at = :now, version = version + 1
WHERE tenant_id = :tenant_id AND id = :id;

-- name: advance
-- How far the runner is, in the transaction of its chunk.
UPDATE notification.dispatch_batches
SET walked_to = :walked_to, walked_at = :walked_at, due_at = :due_at, slots = :slots::jsonb, attempts = 0
WHERE tenant_id = :tenant_id AND id = :id;

-- name: close
-- Nothing is under way any more: what it came to is written down, and the runner has done with it.
UPDATE notification.dispatch_batches SET totals = :totals::jsonb, completed_at = :now, due_at = NULL, updated_at = :now
WHERE tenant_id = :tenant_id AND id = :id;

-- name: give_back
-- The end of a turn.
UPDATE notification.dispatch_batches SET claimed_by = NULL
WHERE tenant_id = :tenant_id AND id = :id AND claimed_by = :worker;

-- name: put_off
-- A turn failed: looked at again later.
UPDATE notification.dispatch_batches
SET attempts = attempts + 1, due_at = CASE WHEN due_at IS NULL THEN NULL ELSE CAST(:due_at AS timestamptz) END
WHERE tenant_id = :tenant_id AND id = :id AND claimed_by = :worker
RETURNING attempts;

-- name: claim
-- Those due, the longest waiting first.
WITH due AS (
    SELECT b.tenant_id, b.id FROM notification.dispatch_batches AS b
    WHERE b.due_at <= :now AND b.claimed_by IS NULL AND b.tenant_id <> ALL (:full::text[])
    ORDER BY b.due_at LIMIT :limit
    FOR UPDATE SKIP LOCKED
)
UPDATE notification.dispatch_batches AS b SET claimed_by = :worker
FROM due WHERE b.tenant_id = due.tenant_id AND b.id = due.id
RETURNING b.tenant_id, b.id;

-- name: next_due
-- Until then the runner sleeps.
SELECT min(due_at) FROM notification.dispatch_batches WHERE due_at IS NOT NULL AND claimed_by IS NULL;

-- name: free_orphans
-- Of runners that are dead, and those claimed in our name without our knowing.
UPDATE notification.dispatch_batches SET claimed_by = NULL
WHERE claimed_by IS NOT NULL AND (
    NOT EXISTS (SELECT FROM kernel.workers AS alive WHERE alive.id = dispatch_batches.claimed_by)
    OR (claimed_by = :worker AND id <> ALL (:held::text[]))
);

-- name: next_people
-- The next page of those that a filter means.
SELECT {person}, NULL::bytea AS variables_ciphertext FROM notification.recipients AS r
WHERE {those_meant}
ORDER BY r.id LIMIT :limit;

-- name: next_listed
-- The same among those of a list.
SELECT {person}, listed.variables_ciphertext
FROM notification.batch_list AS listed
JOIN notification.recipients AS r ON r.tenant_id = listed.tenant_id AND r.id = listed.recipient_id
WHERE listed.tenant_id = :tenant_id AND listed.batch_id = :batch_id AND listed.recipient_id > :after AND {those_meant}
ORDER BY listed.recipient_id LIMIT :limit;

-- name: count_people
-- Once when a batch is started, and for a preview; totals are counted as it runs.
SELECT count(*) FROM notification.recipients AS r WHERE {those_meant};

-- name: count_listed
-- The same among those of a list.
SELECT count(*)
FROM notification.batch_list AS listed
JOIN notification.recipients AS r ON r.tenant_id = listed.tenant_id AND r.id = listed.recipient_id
WHERE listed.tenant_id = :tenant_id AND listed.batch_id = :batch_id AND {those_meant};

-- name: channels_of_people
-- How many of them have an address on each channel.
SELECT a.channel, count(DISTINCT a.recipient_id) AS n
FROM notification.recipients AS r
JOIN notification.recipient_addresses AS a ON a.tenant_id = r.tenant_id AND a.recipient_id = r.id
WHERE {those_meant}
GROUP BY a.channel ORDER BY a.channel;

-- name: channels_of_listed
-- The same among those of a list.
SELECT a.channel, count(DISTINCT a.recipient_id) AS n
FROM notification.batch_list AS listed
JOIN notification.recipients AS r ON r.tenant_id = listed.tenant_id AND r.id = listed.recipient_id
JOIN notification.recipient_addresses AS a ON a.tenant_id = r.tenant_id AND a.recipient_id = r.id
WHERE listed.tenant_id = :tenant_id AND listed.batch_id = :batch_id AND {those_meant}
GROUP BY a.channel ORDER BY a.channel;

-- name: add_to_list
-- Each person once, however often files name them. What a later one says of them takes the place of what was said before; one
-- that says nothing leaves it.
INSERT INTO notification.batch_list AS known (tenant_id, batch_id, recipient_id, variables_ciphertext)
SELECT :tenant_id, :batch_id, given.recipient_id, given.variables_ciphertext
FROM unnest(:recipient_ids::text[], :variables_ciphertexts::bytea[]) AS given (recipient_id, variables_ciphertext)
ORDER BY given.recipient_id COLLATE "C"
ON CONFLICT ON CONSTRAINT pk_batch_list DO UPDATE SET variables_ciphertext = excluded.variables_ciphertext
WHERE excluded.variables_ciphertext IS NOT NULL;

-- name: count_without_variables
-- Of a list: those of whom it says nothing of their own.
SELECT count(*) FROM notification.batch_list
WHERE tenant_id = :tenant_id AND batch_id = :batch_id AND variables_ciphertext IS NULL;

-- name: clear_list
-- Before another list takes its place.
DELETE FROM notification.batch_list WHERE tenant_id = :tenant_id AND batch_id = :batch_id;

-- name: copy_list
-- A clone is for the same people.
INSERT INTO notification.batch_list (tenant_id, batch_id, recipient_id, variables_ciphertext)
SELECT tenant_id, :to_id, recipient_id, variables_ciphertext FROM notification.batch_list WHERE tenant_id = :tenant_id AND batch_id = :from_id;

-- name: waiting_in_queue
-- How many of the tenant's messages of this priority wait to be sent, up to so many: how far the runner is ahead of the dispatcher.
SELECT count(*) FROM (
    SELECT FROM notification.dispatch_queue AS q
    WHERE q.claimed_by IS NULL
      AND (q.priority, q.tenant_id, q.notification_id) > (:rank, :tenant_id::text, '')
      AND (q.priority, q.tenant_id, q.notification_id) < (:rank, :tenant_id::text, '~')
    LIMIT :most
) AS waiting;

-- name: write_people
-- Lines of the ledger, each person for the first time; a second line for somebody fails the whole chunk.
WITH given AS (
    SELECT * FROM unnest(
        :recipient_ids::text[], :variants::smallint[], :states::text[], :notification_ids::text[], :error_codes::text[],
        :send_ats::timestamptz[]
    ) AS g (recipient_id, variant, state, notification_id, error_code, send_at)
), written AS (
    INSERT INTO notification.batch_people (tenant_id, batch_id, recipient_id, variant, state, notification_id, error_code, send_at)
    SELECT :tenant_id, :batch_id, recipient_id, variant, state, notification_id, error_code, send_at FROM given
    RETURNING variant, state
)
INSERT INTO notification.batch_counts AS known (tenant_id, batch_id, variant, name, stripe, n)
SELECT :tenant_id, :batch_id, written.variant, counted.name, :stripe, count(*)
FROM written
CROSS JOIN LATERAL (VALUES ('people'), (nullif(written.state, 'planned'))) AS counted (name)
WHERE counted.name IS NOT NULL
GROUP BY written.variant, counted.name
ORDER BY written.variant, counted.name
ON CONFLICT ON CONSTRAINT pk_batch_counts DO UPDATE SET n = known.n + excluded.n;

-- name: due_people
-- Those planned whose time has come, the longest waiting first.
SELECT p.recipient_id AS id, p.variant, p.send_at, coalesce(chose.timezone, r.primary_timezone, 'UTC') AS timezone,
       listed.variables_ciphertext
FROM notification.batch_people AS p
LEFT JOIN notification.recipients AS r ON r.tenant_id = p.tenant_id AND r.id = p.recipient_id
LEFT JOIN notification.notification_preferences AS chose ON chose.tenant_id = p.tenant_id AND chose.recipient_id = p.recipient_id
LEFT JOIN notification.batch_list AS listed
    ON listed.tenant_id = p.tenant_id AND listed.batch_id = p.batch_id AND listed.recipient_id = p.recipient_id
WHERE p.tenant_id = :tenant_id AND p.batch_id = :batch_id AND p.send_at IS NOT NULL AND p.send_at <= :now
ORDER BY p.send_at, p.recipient_id
LIMIT :limit;

-- name: next_send_at
-- When the next of those planned is due.
SELECT min(send_at) FROM notification.batch_people
WHERE tenant_id = :tenant_id AND batch_id = :batch_id AND send_at IS NOT NULL;

-- name: settle_planned
-- What became of people who were planned: accepted, refused, or planned anew.
WITH moved AS (
    UPDATE notification.batch_people AS p
    SET state = given.state, notification_id = given.notification_id, error_code = given.error_code, send_at = given.send_at
    FROM unnest(
        :recipient_ids::text[], :states::text[], :notification_ids::text[], :error_codes::text[], :send_ats::timestamptz[]
    ) AS given (recipient_id, state, notification_id, error_code, send_at)
    WHERE p.tenant_id = :tenant_id AND p.batch_id = :batch_id AND p.recipient_id = given.recipient_id AND p.state = 'planned'
    RETURNING p.variant, p.state
)
INSERT INTO notification.batch_counts AS known (tenant_id, batch_id, variant, name, stripe, n)
SELECT :tenant_id, :batch_id, moved.variant, moved.state, :stripe, count(*)
FROM moved WHERE moved.state <> 'planned'
GROUP BY moved.variant, moved.state
ORDER BY moved.variant, moved.state
ON CONFLICT ON CONSTRAINT pk_batch_counts DO UPDATE SET n = known.n + excluded.n;

-- name: sum_counts
-- Of some batches: a few rows each, however many people they have.
SELECT batch_id, variant, name, sum(n)::bigint AS n
FROM notification.batch_counts
WHERE tenant_id = :tenant_id AND batch_id = ANY (:batch_ids::text[])
GROUP BY batch_id, variant, name;

-- name: list_people
-- The ledger in the order of ids. Looks at so many lines and says which fit, as lists of notifications do.
WITH seen AS MATERIALIZED (
    SELECT p.recipient_id, p.variant, p.state, p.notification_id, p.error_code, p.unread_answers, p.send_at,
           (CAST(:state AS text) IS NULL OR p.state = :state)
           AND (CAST(:variant AS smallint) IS NULL OR p.variant = :variant)
           AND (NOT CAST(:unread AS boolean) OR p.unread_answers > 0) AS fits
    FROM notification.batch_people AS p
    WHERE p.tenant_id = :tenant_id AND p.batch_id = :batch_id AND p.recipient_id > :after
    ORDER BY p.recipient_id
    LIMIT :most
)
SELECT recipient_id, variant, state, notification_id, error_code, unread_answers, send_at, fits FROM seen ORDER BY recipient_id;

-- name: list_unread
-- Those whose vendor was called and whose answer was never read, by ix_batch_people_unread.
SELECT recipient_id, notification_id, unread_answers FROM notification.batch_people
WHERE tenant_id = :tenant_id AND batch_id = :batch_id AND unread_answers > 0
ORDER BY recipient_id LIMIT :limit;

-- name: count_ledger
-- Every line of the ledger, to hold the totals against it: asked for by people, and read whole.
SELECT variant, state, count(*) AS n, count(DISTINCT recipient_id) AS people
FROM notification.batch_people
WHERE tenant_id = :tenant_id AND batch_id = :batch_id
GROUP BY variant, state;

-- name: walk_ledger
-- Of a batch that was cancelled: the next lines, to see whose message still waits.
SELECT recipient_id, state, notification_id FROM notification.batch_people
WHERE tenant_id = :tenant_id AND batch_id = :batch_id AND recipient_id > :after
ORDER BY recipient_id LIMIT :limit;

-- name: settle_missed
-- Lines that are under way although their messages are over: whatever moved those has not told the ledger. Each by its key.
WITH given AS (
    SELECT * FROM unnest(:recipient_ids::text[], :ids::text[], :created_ats::timestamptz[]) AS g (recipient_id, id, created_at)
), over AS MATERIALIZED (
    SELECT given.recipient_id, mine.status
    FROM given
    CROSS JOIN LATERAL (
        SELECT n.status FROM notification.notifications AS n
        WHERE n.tenant_id = :tenant_id AND n.created_at = given.created_at AND n.id = given.id
          AND n.created_at BETWEEN :oldest AND :newest
          AND n.status IN ('delivered', 'bounced', 'failed', 'suppressed', 'expired', 'cancelled', 'superseded')
        OFFSET 0
    ) AS mine
), moved AS (
    UPDATE notification.batch_people AS p SET state = over.status
    FROM over
    WHERE p.tenant_id = :tenant_id AND p.batch_id = :batch_id AND p.recipient_id = over.recipient_id
      AND p.state IN ('accepted', 'sent')
    RETURNING p.variant, p.state
), counted AS (
    INSERT INTO notification.batch_counts AS known (tenant_id, batch_id, variant, name, stripe, n)
    SELECT :tenant_id, :batch_id, moved.variant, came_to.name, :stripe, count(*)
    FROM moved
    -- What came back was delivered before, and counts as that too.
    CROSS JOIN LATERAL (VALUES (moved.state), (CASE moved.state WHEN 'bounced' THEN 'delivered' END)) AS came_to (name)
    WHERE came_to.name IS NOT NULL
    GROUP BY moved.variant, came_to.name
    ORDER BY moved.variant, came_to.name
    ON CONFLICT ON CONSTRAINT pk_batch_counts DO UPDATE SET n = known.n + excluded.n
)
SELECT count(*) FROM moved;

-- name: cancel_waiting
-- As when one is cancelled: the queue's rows go first and the notifications after them, each in the order of the ids, in which
-- dispatchers, digests and outcomes take theirs too: whoever meets this set waits for it, and never crosswise. A dispatcher that
-- hands one over just now wins, and nothing is written for it.
WITH given AS MATERIALIZED (
    SELECT * FROM unnest(:ids::text[], :created_ats::timestamptz[], :event_ids::text[]) AS g (id, created_at, event_id)
    ORDER BY g.id COLLATE "C"
), in_queue AS MATERIALIZED (
    SELECT held.notification_id
    FROM given
    CROSS JOIN LATERAL (
        SELECT q.notification_id FROM notification.dispatch_queue AS q
        WHERE q.tenant_id = :tenant_id AND q.notification_id = given.id
        FOR UPDATE
    ) AS held
), left_queue AS (
    DELETE FROM notification.dispatch_queue AS q USING in_queue
    WHERE q.tenant_id = :tenant_id AND q.notification_id = in_queue.notification_id
    RETURNING q.notification_id
), waiting AS MATERIALIZED (
    SELECT given.*
    FROM given
    CROSS JOIN LATERAL (
        SELECT n.id AS there FROM notification.notifications AS n
        WHERE n.tenant_id = :tenant_id AND n.created_at = given.created_at AND n.id = given.id
          AND n.created_at BETWEEN :oldest AND :newest AND n.status IN ('queued', 'scheduled')
          AND (SELECT count(*) FROM left_queue) >= 0
        FOR UPDATE
    ) AS held
), cancelled AS (
    UPDATE notification.notifications AS n
    SET status = 'cancelled', cancelled_at = :now, updated_at = :now, version = n.version + 1
    FROM waiting
    WHERE n.tenant_id = :tenant_id AND n.created_at = waiting.created_at AND n.id = waiting.id
      AND n.created_at BETWEEN :oldest AND :newest
    RETURNING n.id, n.recipient_id, n.batch_id, n.status, n.channel, n.category, n.template_key, n.correlation_id, n.is_test,
              waiting.event_id
), left_schedule AS (
    UPDATE notification.notification_scheduled AS s SET obsolete = true, processed_at = :now, updated_at = :now
    FROM cancelled
    WHERE s.tenant_id = :tenant_id AND s.notification_id = cancelled.id AND s.processed_at IS NULL AND NOT s.obsolete
), announced AS (
    -- As `moved_event` writes it: what the row says is not fetched first.
    INSERT INTO notification.outbox (id, tenant_id, subject, ordering_key, payload, envelope)
    SELECT event_id, :tenant_id, 'notification.cancelled.v1', id,
           '{"notification_id":"' || id || '","recipient_id":"' || recipient_id || '","status":"cancelled","channel":"' || channel
               || '","category":' || to_json(category) || ',"template_key":' || to_json(template_key) || ',"reason":"cancelled"'
               || coalesce(',"correlation_id":' || to_json(correlation_id), '')
               || CASE WHEN is_test THEN ',"is_test":true}' ELSE '}' END,
           :envelope
    FROM cancelled
), in_batch AS (
    UPDATE notification.batch_people AS person
    SET state = 'cancelled', error_code = 'cancelled'
    FROM cancelled
    WHERE person.tenant_id = :tenant_id AND person.batch_id = cancelled.batch_id AND person.recipient_id = cancelled.recipient_id
    RETURNING person.batch_id, person.variant
), batch_totals AS (
    INSERT INTO notification.batch_counts AS known (tenant_id, batch_id, variant, name, stripe, n)
    SELECT :tenant_id, batch_id, variant, 'cancelled', :stripe, count(*)
    FROM in_batch
    GROUP BY batch_id, variant
    ORDER BY batch_id, variant
    ON CONFLICT ON CONSTRAINT pk_batch_counts DO UPDATE SET n = known.n + excluded.n
), counts AS (
    INSERT INTO notification.counters AS known (tenant_id, day, stripe, name, channel, category, n)
    SELECT :tenant_id, :day, :stripe, 'cancelled', channel, category, count(*)
    FROM cancelled
    GROUP BY channel, category
    ORDER BY channel, category
    ON CONFLICT (tenant_id, day, stripe, name, channel, category) DO UPDATE SET n = known.n + excluded.n
)
SELECT id FROM cancelled;

-- name: sweep_people
-- The ledger of batches that ended long ago; what they came to stays in their rows.
DELETE FROM notification.batch_people
WHERE (tenant_id, batch_id, recipient_id) IN (
    SELECT p.tenant_id, p.batch_id, p.recipient_id
    FROM (
        SELECT b.tenant_id, b.id FROM notification.dispatch_batches AS b
        WHERE b.completed_at < :before
    ) AS old
    CROSS JOIN LATERAL (
        SELECT lines.tenant_id, lines.batch_id, lines.recipient_id FROM notification.batch_people AS lines
        WHERE lines.tenant_id = old.tenant_id AND lines.batch_id = old.id
        LIMIT :limit
    ) AS p
    LIMIT :limit
);

-- name: sweep_lists
-- And whom they were for.
DELETE FROM notification.batch_list
WHERE (tenant_id, batch_id, recipient_id) IN (
    SELECT p.tenant_id, p.batch_id, p.recipient_id
    FROM (
        SELECT b.tenant_id, b.id FROM notification.dispatch_batches AS b
        WHERE b.completed_at < :before
    ) AS old
    CROSS JOIN LATERAL (
        SELECT lines.tenant_id, lines.batch_id, lines.recipient_id FROM notification.batch_list AS lines
        WHERE lines.tenant_id = old.tenant_id AND lines.batch_id = old.id
        LIMIT :limit
    ) AS p
    LIMIT :limit
);
