-- name: insert_subscription
-- Only as long as there are not too many; the platform's writers of them are few.
INSERT INTO notification_platform.event_subscriptions
    (id, name, subject, for_tenant, tenant_word, is_test, may_erase, since, enabled, version, created_at, updated_at)
VALUES (:id, :name, :subject, :for_tenant, :tenant_word, :is_test, :may_erase, :since, :enabled, :version, :created_at, :updated_at);

-- name: count_subscriptions
-- Those that there are.
SELECT count(*) FROM notification_platform.event_subscriptions WHERE deleted_at IS NULL;

-- name: lock_subscription
-- Held while it is changed.
SELECT id, name, subject, for_tenant, tenant_word, is_test, may_erase, since, enabled, version, created_at, updated_at, deleted_at
FROM notification_platform.event_subscriptions WHERE id = :id AND deleted_at IS NULL FOR UPDATE;

-- name: find_subscription
-- One of them.
SELECT id, name, subject, for_tenant, tenant_word, is_test, may_erase, since, enabled, version, created_at, updated_at, deleted_at
FROM notification_platform.event_subscriptions WHERE id = :id AND deleted_at IS NULL;

-- name: all_subscriptions
-- For their readers, with those that are to be forgotten; they are few.
SELECT id, name, subject, for_tenant, tenant_word, is_test, may_erase, since, enabled, version, created_at, updated_at, deleted_at
FROM notification_platform.event_subscriptions ORDER BY id;

-- name: list_subscriptions
-- The newest first.
SELECT id, name, subject, for_tenant, tenant_word, is_test, may_erase, since, enabled, version, created_at, updated_at, deleted_at
FROM notification_platform.event_subscriptions
WHERE deleted_at IS NULL AND (:after_id::text IS NULL OR id < :after_id) ORDER BY id DESC LIMIT :limit;

-- name: save_subscription
-- What can be changed of it.
UPDATE notification_platform.event_subscriptions
SET name = :name, for_tenant = :for_tenant, tenant_word = :tenant_word, is_test = :is_test, may_erase = :may_erase,
    enabled = :enabled, version = :version, updated_at = :updated_at, deleted_at = :deleted_at
WHERE id = :id;

-- name: find_progress
-- Of those that were read.
SELECT subscription_id, stream, own_stream, position, accepted, repeated, refused, waiting, last_received_at, last_refused_at,
    last_refusal, problem, problem_since
FROM notification_platform.event_subscription_progress WHERE subscription_id = ANY(:ids::text[]);

-- name: note_set
-- After a set: how far it is read, and what came of it. Counts only grow.
INSERT INTO notification_platform.event_subscription_progress AS known
    (subscription_id, stream, own_stream, position, accepted, repeated, refused, waiting, last_received_at, last_refused_at,
     last_refusal)
VALUES (:id, :stream, :own_stream, :position, :accepted, :repeated, :refused, :waiting, :now,
    CASE WHEN :refused::bigint > 0 THEN :now::timestamptz END, :last_refusal)
ON CONFLICT (subscription_id) DO UPDATE SET
    stream = excluded.stream, own_stream = excluded.own_stream, position = excluded.position,
    accepted = known.accepted + excluded.accepted, repeated = known.repeated + excluded.repeated,
    refused = known.refused + excluded.refused, waiting = excluded.waiting, last_received_at = excluded.last_received_at,
    last_refused_at = coalesce(excluded.last_refused_at, known.last_refused_at),
    last_refusal = coalesce(excluded.last_refusal, known.last_refusal);

-- name: note_reading
-- It is read now, or can't be, and why. A problem that lasts keeps its beginning; what did not change is not written.
INSERT INTO notification_platform.event_subscription_progress AS known
    (subscription_id, stream, own_stream, waiting, problem, problem_since)
VALUES (:id, :stream, :own_stream, :waiting, :problem, CASE WHEN :problem::text IS NOT NULL THEN :now::timestamptz END)
ON CONFLICT (subscription_id) DO UPDATE SET
    stream = coalesce(excluded.stream, known.stream),
    own_stream = CASE WHEN excluded.stream IS NULL THEN known.own_stream ELSE excluded.own_stream END,
    -- A place on another stream says nothing of this one.
    position = CASE WHEN excluded.stream <> known.stream THEN 0 ELSE known.position END,
    waiting = CASE WHEN excluded.stream IS NULL THEN known.waiting ELSE excluded.waiting END,
    problem = excluded.problem,
    problem_since = CASE WHEN excluded.problem IS NOT NULL THEN coalesce(known.problem_since, excluded.problem_since) END
WHERE (known.stream, known.problem, known.waiting) IS DISTINCT FROM (excluded.stream, excluded.problem, excluded.waiting);

-- name: forget_subscription
-- The broker has forgotten it.
DELETE FROM notification_platform.event_subscriptions WHERE id = :id AND deleted_at IS NOT NULL;

-- name: keep_refused
-- A message that comes again after a crash takes the place of itself.
INSERT INTO notification_platform.event_subscription_refusals
    (subscription_id, id, stream, position, refused_at, size, code, field, remedy, content_ciphertext)
SELECT :subscription_id, given.id, :stream, given.position, :now, given.size, given.code, given.field, given.remedy, given.content
FROM unnest(
    :ids::text[], :positions::bigint[], :sizes::integer[], :codes::text[], :fields::text[], :remedies::text[], :contents::bytea[]
) AS given (id, position, size, code, field, remedy, content)
ON CONFLICT ON CONSTRAINT uq_event_subscription_refusals_place DO UPDATE SET
    id = excluded.id, refused_at = excluded.refused_at, size = excluded.size, code = excluded.code, field = excluded.field,
    remedy = excluded.remedy, content_ciphertext = excluded.content_ciphertext;

-- name: bound_refused
-- The newest stay.
DELETE FROM notification_platform.event_subscription_refusals WHERE subscription_id = :subscription_id AND id <= (
    SELECT id FROM notification_platform.event_subscription_refusals WHERE subscription_id = :subscription_id
    ORDER BY id DESC OFFSET :most LIMIT 1
);

-- name: list_refused
-- The newest first, without what they say.
SELECT id, stream, position, refused_at, size, code, field, remedy, content_ciphertext IS NOT NULL AS kept
FROM notification_platform.event_subscription_refusals
WHERE subscription_id = :subscription_id AND (:after_id::text IS NULL OR id < :after_id) ORDER BY id DESC LIMIT :limit;

-- name: load_refused
-- The oldest first, with what they say; those named, or all.
SELECT id, stream, position, content_ciphertext
FROM notification_platform.event_subscription_refusals
WHERE subscription_id = :subscription_id AND content_ciphertext IS NOT NULL AND id > :after_id
  AND (:ids::text[] IS NULL OR id = ANY(:ids::text[]))
ORDER BY id LIMIT :limit;

-- name: settle_refused
-- Those that were taken this time are gone.
DELETE FROM notification_platform.event_subscription_refusals WHERE subscription_id = :subscription_id AND id = ANY(:ids::text[]);

-- name: note_refused_again
-- Why it was refused this time.
UPDATE notification_platform.event_subscription_refusals AS known
SET code = given.code, field = given.field, remedy = given.remedy
FROM unnest(:ids::text[], :codes::text[], :fields::text[], :remedies::text[]) AS given (id, code, field, remedy)
WHERE known.subscription_id = :subscription_id AND known.id = given.id;

-- name: sweep_refused
-- They are kept as long as events are.
DELETE FROM notification_platform.event_subscription_refusals WHERE (subscription_id, id) IN (
    SELECT subscription_id, id FROM notification_platform.event_subscription_refusals
    WHERE refused_at <= :before ORDER BY refused_at LIMIT :limit
);
