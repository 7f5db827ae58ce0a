-- name: lock_subjects
-- Each by its key, in the order of ids, so that two sets wait for each other in one order. One that had to be waited for comes as
-- it is now. Who was erased is known by their row.
SELECT mine.id, mine.recipient_id, mine.status, mine.channel, mine.final_channel, mine.category,
       mine.template_key, mine.correlation_id, mine.is_test, mine.batch_id, mine.read_at, mine.opened_at, mine.clicked_at,
       EXISTS (
           SELECT FROM notification.recipients AS gone
           WHERE gone.tenant_id = :tenant_id AND gone.id IN (mine.recipient_id, wanted.reader_id)
             AND gone.erased_at IS NOT NULL
       ) AS erased
FROM unnest(:ids::text[], :created_ats::timestamptz[], :reader_ids::text[])
    AS wanted (id, created_at, reader_id)
CROSS JOIN LATERAL (
    SELECT n.id, n.recipient_id, n.status, n.channel, n.final_channel, n.category, n.template_key, n.correlation_id,
           n.is_test, n.batch_id, n.read_at, n.opened_at, n.clicked_at
    FROM notification.notifications AS n
    WHERE n.tenant_id = :tenant_id AND n.created_at = wanted.created_at AND n.id = wanted.id
      AND n.created_at BETWEEN :oldest AND :newest
    LIMIT 1
    FOR UPDATE
) AS mine;

-- name: write_log
-- Lines are named after the events that tell of them: told again, they are there already, and nothing follows from them.
INSERT INTO notification.delivery_attempts
    (tenant_id, id, started_at, finished_at, attempt_number, notification_id, execution_id, router_attempt_id, channel,
     vendor, outcome, error_code)
SELECT :tenant_id, l.id, l.started_at, l.finished_at, 0, l.notification_id, l.execution_id, l.attempt_id, l.channel,
       l.vendor, l.outcome, l.code
FROM unnest(
    :line_ids::text[], :started_ats::timestamptz[], :finished_ats::timestamptz[], :notification_ids::text[],
    :execution_ids::text[], :attempt_ids::text[], :channels::text[], :vendors::text[], :outcomes::text[], :codes::text[]
) AS l (id, started_at, finished_at, notification_id, execution_id, attempt_id, channel, vendor, outcome, code)
ON CONFLICT DO NOTHING
RETURNING id;

-- name: note_engagements
-- The first time of each stays; an earlier one that is heard later takes its place. The rows are locked by now.
UPDATE notification.notifications AS n
SET read_at = least(n.read_at, fresh.read_at),
    opened_at = least(n.opened_at, fresh.opened_at),
    clicked_at = least(n.clicked_at, fresh.clicked_at),
    updated_at = :now
FROM unnest(
    :ids::text[], :created_ats::timestamptz[], :read_ats::timestamptz[], :opened_ats::timestamptz[],
    :clicked_ats::timestamptz[]
) AS fresh (id, created_at, read_at, opened_at, clicked_at)
WHERE n.tenant_id = :tenant_id AND n.created_at = fresh.created_at AND n.id = fresh.id
  AND n.created_at BETWEEN :oldest AND :newest
  AND (n.read_at, n.opened_at, n.clicked_at) IS DISTINCT FROM (
      least(n.read_at, fresh.read_at), least(n.opened_at, fresh.opened_at), least(n.clicked_at, fresh.clicked_at)
  );

-- name: turn_bounced
-- Of those that are delivered: the message that came back must be the one that delivered, which is the last that a vendor took on
-- the channel that did it; rows of before do not name it, and their calls are in the log. A bounce of another attempt changes nothing, nor a failure where a vendor has said that it arrived, or it was read.
-- The rows are locked by now.
WITH given AS (
    SELECT * FROM unnest(
        :ids::text[], :created_ats::timestamptz[], :attempt_ids::text[], :reasons::text[], :bounced_ats::timestamptz[],
        :losts::boolean[]
    ) AS g (id, created_at, attempt_id, reason, bounced_at, lost)
), moved AS (
    UPDATE notification.notifications AS n
    SET status = 'bounced', bounced_at = given.bounced_at, failure_reason = given.reason, updated_at = :now,
        version = n.version + 1
    FROM given
    WHERE n.tenant_id = :tenant_id AND n.created_at = given.created_at AND n.id = given.id
      AND n.created_at BETWEEN :oldest AND :newest AND n.status = 'delivered'
      AND (
          NOT given.lost OR (
              n.delivery_evidence IN ('accepted', 'sent') AND coalesce(n.read_at, n.opened_at, n.clicked_at) IS NULL
          )
      )
      AND given.attempt_id = coalesce(n.delivering_attempt_id, (
          SELECT a.router_attempt_id FROM notification.delivery_attempts AS a
          WHERE a.tenant_id = :tenant_id AND a.notification_id = given.id AND a.started_at >= given.created_at
            AND a.channel = n.final_channel AND a.outcome IN ('accepted', 'delivered') AND a.attempt_number > 0
          ORDER BY a.attempt_number DESC
          LIMIT 1
      ))
    RETURNING n.id, n.recipient_id, n.batch_id, n.status, n.channel, n.category, n.template_key, n.correlation_id, n.is_test,
              given.reason
), in_batch AS (
    -- Of a batch: its ledger and its totals go along. Before the counts, so that all writers take the two in one order.
    UPDATE notification.batch_people AS person
    SET state = moved.status, error_code = moved.reason
    FROM moved
    WHERE moved.batch_id IS NOT NULL AND person.tenant_id = :tenant_id AND person.batch_id = moved.batch_id
      AND person.recipient_id = moved.recipient_id
    RETURNING person.tenant_id, person.batch_id, person.variant, person.state
), batch_totals AS (
    INSERT INTO notification.batch_counts AS known (tenant_id, batch_id, variant, name, stripe, n)
    SELECT tenant_id, batch_id, variant, state, :stripe, count(*)
    FROM in_batch
    GROUP BY tenant_id, batch_id, variant, state
    ORDER BY tenant_id, batch_id, variant, state
    ON CONFLICT ON CONSTRAINT pk_batch_counts DO UPDATE SET n = known.n + excluded.n
), counts AS (
    INSERT INTO notification.counters AS known (tenant_id, day, stripe, name, channel, category, n)
    SELECT :tenant_id, :day, :stripe, moved.status, moved.channel, moved.category, count(*)
    FROM moved
    GROUP BY moved.status, moved.channel, moved.category
    ORDER BY moved.status, moved.channel, moved.category
    ON CONFLICT (tenant_id, day, stripe, name, channel, category) DO UPDATE SET n = known.n + excluded.n
)
SELECT id, recipient_id, status, channel, category, template_key, correlation_id, is_test, reason FROM moved;

-- name: keep_early
-- Not over yet: whether this attempt is the one that delivers is known with the outcome. The rows, which are locked by now, are
-- written anew: an outcome that waits for one of them has to look again, and then it sees what is kept here.
WITH given AS (
    SELECT * FROM unnest(
        :notification_ids::text[], :created_ats::timestamptz[], :attempt_ids::text[], :bounced_ats::timestamptz[],
        :reasons::text[], :losts::boolean[]
    ) AS g (notification_id, created_at, attempt_id, bounced_at, reason, lost)
), touched AS (
    UPDATE notification.notifications AS n SET updated_at = :now
    FROM given
    WHERE n.tenant_id = :tenant_id AND n.created_at = given.created_at AND n.id = given.notification_id
      AND n.created_at BETWEEN :oldest AND :newest
)
INSERT INTO notification.early_bounces AS known (tenant_id, notification_id, attempt_id, bounced_at, reason, lost)
SELECT :tenant_id, given.notification_id, given.attempt_id, given.bounced_at, given.reason, given.lost FROM given
-- A bounce before a failure, and then the earliest: whatever was heard first.
ON CONFLICT ON CONSTRAINT pk_early_bounces DO UPDATE
SET bounced_at = excluded.bounced_at, reason = excluded.reason, lost = excluded.lost
WHERE (excluded.lost, excluded.bounced_at, excluded.reason) < (known.lost, known.bounced_at, known.reason);

-- name: take_early
-- Those that waited for these outcomes, for good.
DELETE FROM notification.early_bounces
WHERE tenant_id = :tenant_id AND notification_id = ANY(:notification_ids::text[])
RETURNING notification_id, attempt_id, bounced_at, reason, lost;

-- name: count
-- What happened today, by channel and category.
INSERT INTO notification.counters AS known (tenant_id, day, stripe, name, channel, category, n)
SELECT :tenant_id, :day, :stripe, c.name, c.channel, c.category, c.n
FROM unnest(:names::text[], :channels::text[], :categories::text[], :ns::bigint[]) AS c (name, channel, category, n)
ORDER BY c.name, c.channel, c.category
ON CONFLICT (tenant_id, day, stripe, name, channel, category) DO UPDATE SET n = known.n + excluded.n;

-- name: count_in_batches
-- What people of batches did for the first time, by the share of the A/B test that they are in.
INSERT INTO notification.batch_counts AS known (tenant_id, batch_id, variant, name, stripe, n)
SELECT :tenant_id, given.batch_id, person.variant, given.name, :stripe, count(*)
FROM unnest(:batch_ids::text[], :recipient_ids::text[], :names::text[]) AS given (batch_id, recipient_id, name)
CROSS JOIN LATERAL (
    SELECT p.variant FROM notification.batch_people AS p
    WHERE p.tenant_id = :tenant_id AND p.batch_id = given.batch_id AND p.recipient_id = given.recipient_id
    OFFSET 0
) AS person
GROUP BY given.batch_id, person.variant, given.name
ORDER BY given.batch_id, person.variant, given.name
ON CONFLICT ON CONSTRAINT pk_batch_counts DO UPDATE SET n = known.n + excluded.n;

-- name: sweep_early
-- Their outcomes never came.
DELETE FROM notification.early_bounces
WHERE (tenant_id, notification_id, attempt_id) IN (
    SELECT tenant_id, notification_id, attempt_id FROM notification.early_bounces
    WHERE bounced_at < :before ORDER BY bounced_at LIMIT :limit
);
