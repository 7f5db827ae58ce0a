-- name: find_taken
-- Messages with effects that were committed before: a worker died before they were marked. What a STOP means for other tenants
-- may not have been done yet.
SELECT line.id, line.keyword, line.keyword_action, line.language
FROM unnest(:ids::text[]) AS wanted (id)
JOIN chan.conversation_messages AS line ON line.tenant_id = :tenant_id AND line.id = wanted.id;

-- name: close_expired
-- Those of these people that ended in silence and are not closed yet. In one order, as a worker that opens takes them.
WITH over AS MATERIALIZED (
    SELECT known.id, wanted.at
    FROM unnest(:channels::text[], :sender_ids::text[], :hashes::text[], :ats::timestamptz[]) AS wanted (channel, sender_id, hash, at)
    JOIN chan.conversations AS known
      ON known.tenant_id = :tenant_id AND known.channel = wanted.channel AND known.sender_id = wanted.sender_id
     AND known.address_hash = wanted.hash AND known.status = 'OPEN' AND known.expires_at <= wanted.at
    ORDER BY known.channel, known.sender_id, known.address_hash
    FOR UPDATE OF known
)
UPDATE chan.conversations AS known
SET status = 'CLOSED_IDLE', closed_at = known.expires_at, close_reason = 'idle', version = known.version + 1
FROM over
WHERE known.tenant_id = :tenant_id AND known.id = over.id
RETURNING known.id, known.channel, known.sender_id, known.recipient_id, known.status, known.turn_count, known.opened_by,
          known.use_case, known.ttl_seconds, known.vendor, known.account_id, known.opened_at, known.last_seen_at,
          known.last_mo_at, known.last_mt_at, known.expires_at, known.closed_at, known.close_reason, known.version,
          known.key_subject, known.address_ciphertext;

-- name: find_latest
-- The last conversation with each of these people: the open one, or else the one in which something was said last.
SELECT wanted.place, known.id, known.channel, known.sender_id, known.recipient_id, known.status, known.turn_count,
       known.opened_by, known.use_case, known.ttl_seconds, known.vendor, known.account_id, known.opened_at,
       known.last_seen_at, known.last_mo_at, known.last_mt_at, known.expires_at, known.closed_at, known.close_reason,
       known.version, known.key_subject, known.address_ciphertext
FROM unnest(:channels::text[], :sender_ids::text[], :hashes::text[]) WITH ORDINALITY AS wanted (channel, sender_id, hash, place)
CROSS JOIN LATERAL (
    SELECT * FROM chan.conversations
    WHERE tenant_id = :tenant_id AND sender_id = wanted.sender_id AND address_hash = wanted.hash AND channel = wanted.channel
      AND id <> ALL (:besides::text[])
    ORDER BY (status = 'OPEN') DESC, last_seen_at DESC LIMIT 1
) AS known;

-- name: lock_opt_changes
-- Who says STOP to one number and START to another has two conversations, and no row that both would lock: a transaction that
-- decides which of the two was the last word waits for another one that does, and then sees what that one wrote. In one order.
SELECT pg_advisory_xact_lock(person.key)
FROM (
    SELECT DISTINCT hashtextextended(:tenant_id || '/' || wanted.channel || '/' || wanted.hash, 7411043) AS key
    FROM unnest(:channels::text[], :platform_hashes::text[]) AS wanted (channel, hash)
    ORDER BY key
) AS person;

-- name: find_last_opt_changes
-- The last STOP and the last START of these people, to whichever number of the tenant's: what they want holds for their address.
-- By the platform's hash, which has an index without the number. Ids begin with the time at which a message was received.
SELECT wanted.place, said.keyword_action, max(said.id) AS id
FROM unnest(:channels::text[], :platform_hashes::text[]) WITH ORDINALITY AS wanted (channel, hash, place)
CROSS JOIN LATERAL (
    SELECT id FROM chan.conversations
    WHERE platform_hash = wanted.hash AND tenant_id = :tenant_id AND channel = wanted.channel
    OFFSET 0
) AS known
CROSS JOIN LATERAL (
    SELECT id, keyword_action FROM chan.conversation_messages
    WHERE tenant_id = :tenant_id AND conversation_id = known.id AND direction = 'in' AND keyword_action IN ('stop', 'start')
    OFFSET 0
) AS said
GROUP BY wanted.place, said.keyword_action;

-- name: open_conversations
-- The open one of each, or a new one; locked from here on, in one order with all workers.
INSERT INTO chan.conversations AS known (
    tenant_id, id, channel, sender_id, address_hash, platform_hash, opened_by, ttl_seconds, opened_at, last_seen_at, expires_at
)
SELECT :tenant_id, fresh.id, fresh.channel, fresh.sender_id, fresh.hash, fresh.platform_hash, 'in', fresh.ttl, fresh.at, fresh.at,
       fresh.at + make_interval(secs => fresh.ttl)
FROM unnest(
    :ids::text[], :channels::text[], :sender_ids::text[], :hashes::text[], :platform_hashes::text[], :ttl_seconds::integer[],
    :ats::timestamptz[]
) AS fresh (id, channel, sender_id, hash, platform_hash, ttl, at)
ORDER BY fresh.channel COLLATE "C", fresh.sender_id COLLATE "C", fresh.hash COLLATE "C"
ON CONFLICT (tenant_id, channel, sender_id, address_hash) WHERE status = 'OPEN'
DO UPDATE SET last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at), platform_hash = excluded.platform_hash
RETURNING known.address_hash, known.id, known.channel, known.sender_id, known.recipient_id, known.status, known.turn_count,
          known.opened_by, known.use_case, known.ttl_seconds, known.vendor, known.account_id, known.opened_at,
          known.last_seen_at, known.last_mo_at, known.last_mt_at, known.expires_at, known.closed_at, known.close_reason,
          known.version, known.key_subject, known.address_ciphertext;

-- name: go_on
-- What was said moves the end; STOP is the end. What was held up on its way says nothing of the last word, nor of the way back.
UPDATE chan.conversations AS known
SET recipient_id = coalesce(said.recipient_id, known.recipient_id),
    turn_count = known.turn_count + said.turns,
    last_mo_message_id = CASE WHEN known.last_mo_at > said.at THEN known.last_mo_message_id
                              ELSE coalesce(said.last_mo, known.last_mo_message_id) END,
    last_mo_at = greatest(known.last_mo_at, said.at),
    last_seen_at = greatest(known.last_seen_at, said.at),
    -- From now on: a tenant that hears only now what was held up has to have time to answer.
    expires_at = greatest(known.expires_at, :now::timestamptz + make_interval(secs => known.ttl_seconds)),
    vendor = CASE WHEN greatest(known.last_mo_at, known.last_mt_at) > said.at THEN known.vendor ELSE said.vendor END,
    account_id = CASE WHEN greatest(known.last_mo_at, known.last_mt_at) > said.at THEN known.account_id
                      ELSE said.account_id END,
    key_subject = coalesce(known.key_subject, said.key_subject),
    address_ciphertext = coalesce(known.address_ciphertext, said.address),
    status = CASE WHEN said.stopped AND known.status = 'OPEN' THEN 'CLOSED_STOP' ELSE known.status END,
    closed_at = CASE WHEN said.stopped AND known.status = 'OPEN' THEN said.at ELSE known.closed_at END,
    close_reason = CASE WHEN said.stopped AND known.status = 'OPEN' THEN 'stop' ELSE known.close_reason END,
    version = known.version + 1
FROM unnest(
    :ids::text[], :recipient_ids::text[], :turns::integer[], :last_message_ids::text[], :ats::timestamptz[], :vendors::text[],
    :account_ids::text[], :key_subjects::text[], :addresses::bytea[], :stoppeds::boolean[]
) AS said (id, recipient_id, turns, last_mo, at, vendor, account_id, key_subject, address, stopped)
WHERE known.tenant_id = :tenant_id AND known.id = said.id
RETURNING known.id, known.channel, known.sender_id, known.recipient_id, known.status, known.turn_count, known.opened_by,
          known.use_case, known.ttl_seconds, known.vendor, known.account_id, known.opened_at, known.last_seen_at,
          known.last_mo_at, known.last_mt_at, known.expires_at, known.closed_at, known.close_reason, known.version,
          known.key_subject, known.address_ciphertext;

-- name: insert_lines
-- Of an inbound message the line is the proof that it was taken: a second one is refused, with all that came with it. Who asks
-- for the same again and again is answered once a minute: each answer is paid for, and passes no gate.
INSERT INTO chan.conversation_messages (
    tenant_id, id, conversation_id, at, occurred_at, next_attempt_at, updated_at, direction, kind, status, keyword,
    keyword_action, language, vendor, account_id, key_subject, text_ciphertext
)
SELECT :tenant_id, line.id, line.conversation_id, line.at, line.occurred_at, CASE WHEN line.status = 'queued' THEN :now::timestamptz END, :now::timestamptz,
       line.direction, line.kind, line.status, line.keyword, line.action, line.language, line.vendor, line.account_id,
       line.key_subject, line.ciphertext
FROM unnest(
    :ids::text[], :conversation_ids::text[], :ats::timestamptz[], :occurred_ats::timestamptz[], :directions::text[], :kinds::text[],
    :statuses::text[], :keywords::text[], :actions::text[], :languages::text[], :vendors::text[], :account_ids::text[],
    :key_subjects::text[], :ciphertexts::bytea[]
) AS line (id, conversation_id, at, occurred_at, direction, kind, status, keyword, action, language, vendor, account_id, key_subject, ciphertext)
WHERE line.direction = 'in' OR line.kind NOT IN ('help', 'start_confirmation') OR NOT EXISTS (
    SELECT FROM chan.conversation_messages AS said
    WHERE said.tenant_id = :tenant_id AND said.conversation_id = line.conversation_id AND said.direction = 'out'
      AND said.kind = line.kind AND said.at > line.at - INTERVAL '1 minute'
);

-- name: note_sent
-- A set of messages that can be answered: the open conversation of each, or a new one, and the line that says so. One that
-- ended in silence and is not closed yet goes on.
WITH turn AS MATERIALIZED (
    SELECT * FROM unnest(
        :ids::text[], :line_ids::text[], :channels::text[], :sender_ids::text[], :hashes::text[], :platform_hashes::text[],
        :recipient_ids::text[], :notification_ids::text[], :vendors::text[], :account_ids::text[], :use_cases::text[],
        :ttl_seconds::integer[], :ats::timestamptz[]
    ) AS turn (id, line_id, channel, sender_id, hash, platform_hash, recipient_id, notification_id, vendor, account_id, use_case, ttl, at)
), people AS MATERIALIZED (
    -- The last one speaks for all to the same person.
    SELECT DISTINCT ON (turn.channel, turn.sender_id, turn.hash) turn.*,
           count(*) OVER (PARTITION BY turn.channel, turn.sender_id, turn.hash) AS turns
    FROM turn
    ORDER BY turn.channel, turn.sender_id, turn.hash, turn.at DESC, turn.line_id DESC
), talked AS (
    INSERT INTO chan.conversations AS known (
        tenant_id, id, channel, sender_id, address_hash, platform_hash, recipient_id, vendor, account_id, use_case, opened_by,
        ttl_seconds, turn_count, last_mt_message_id, last_mt_at, opened_at, last_seen_at, expires_at
    )
    SELECT :tenant_id, id, channel, sender_id, hash, platform_hash, recipient_id, vendor, account_id, use_case, 'out',
           ttl, turns, notification_id, at, at, at, at + make_interval(secs => ttl)
    FROM people
    ORDER BY channel COLLATE "C", sender_id COLLATE "C", hash COLLATE "C"
    ON CONFLICT (tenant_id, channel, sender_id, address_hash) WHERE status = 'OPEN'
    DO UPDATE SET
        recipient_id = coalesce(excluded.recipient_id, known.recipient_id),
        platform_hash = excluded.platform_hash,
        vendor = excluded.vendor,
        account_id = excluded.account_id,
        use_case = coalesce(excluded.use_case, known.use_case),
        ttl_seconds = excluded.ttl_seconds,
        turn_count = known.turn_count + excluded.turn_count,
        last_mt_message_id = excluded.last_mt_message_id,
        last_mt_at = greatest(known.last_mt_at, excluded.last_mt_at),
        last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at),
        expires_at = greatest(known.expires_at, excluded.expires_at),
        version = known.version + 1
    RETURNING known.id, known.channel, known.sender_id, known.address_hash
), lines AS (
    INSERT INTO chan.conversation_messages (
        tenant_id, id, conversation_id, at, updated_at, direction, kind, status, notification_id, vendor, account_id
    )
    SELECT :tenant_id, turn.line_id, talked.id, turn.at, :now::timestamptz, 'out', 'notification', 'sent', turn.notification_id,
           turn.vendor, turn.account_id
    FROM turn
    JOIN talked ON talked.channel = turn.channel AND talked.sender_id = turn.sender_id AND talked.address_hash = turn.hash
), shared AS (
    -- Over an account of the platform: a STOP to the number holds for all tenants that wrote from it. Once a day is enough.
    INSERT INTO chan.shared_number_contacts AS known (tenant_id, platform_hash, sender_id, channel, last_sent_at)
    SELECT :tenant_id, platform_hash, sender_id, channel, at
    FROM people
    WHERE EXISTS (
        SELECT FROM chan.channel_adapter_configs AS account
        WHERE account.id = people.account_id AND account.tenant_id IS NULL
    )
    ORDER BY platform_hash COLLATE "C", sender_id COLLATE "C", channel COLLATE "C"
    ON CONFLICT (tenant_id, platform_hash, sender_id, channel) DO UPDATE SET last_sent_at = excluded.last_sent_at
    WHERE known.last_sent_at < excluded.last_sent_at - INTERVAL '1 day'
)
SELECT people.id, people.line_id FROM people JOIN talked ON talked.id = people.id;

-- name: list_conversations
-- The newest first; ids begin with their time, so the key's own order serves.
SELECT id, channel, sender_id, recipient_id, status, turn_count, opened_by, use_case, ttl_seconds, vendor, account_id, opened_at,
       last_seen_at, last_mo_at, last_mt_at, expires_at, closed_at, close_reason, version, key_subject, address_ciphertext
FROM chan.conversations
WHERE tenant_id = :tenant_id
  AND (:after_id::text IS NULL OR id < :after_id::text)
  AND (:status::text IS NULL OR status = :status::text)
  AND (:channel::text IS NULL OR channel = :channel::text)
  AND (:recipient_id::text IS NULL OR recipient_id = :recipient_id::text)
  AND (:since::timestamptz IS NULL OR last_seen_at >= :since::timestamptz)
  AND (NOT :unanswered::boolean OR last_mo_at > coalesce(last_mt_at, '-infinity'))
ORDER BY id DESC
LIMIT :limit;

-- name: find_conversation
-- By its key.
SELECT id, channel, sender_id, recipient_id, status, turn_count, opened_by, use_case, ttl_seconds, vendor, account_id, opened_at,
       last_seen_at, last_mo_at, last_mt_at, expires_at, closed_at, close_reason, version, key_subject, address_ciphertext
FROM chan.conversations
WHERE tenant_id = :tenant_id AND id = :id;

-- name: lock_conversation
-- Closing by hand, and learning who it is with, come through here.
SELECT id, channel, sender_id, recipient_id, status, turn_count, opened_by, use_case, ttl_seconds, vendor, account_id, opened_at,
       last_seen_at, last_mo_at, last_mt_at, expires_at, closed_at, close_reason, version, key_subject, address_ciphertext
FROM chan.conversations
WHERE tenant_id = :tenant_id AND id = :id
FOR UPDATE;

-- name: find_address_hash
-- For an answer: which of the person's addresses it is with.
SELECT address_hash FROM chan.conversations WHERE tenant_id = :tenant_id AND id = :id;

-- name: set_recipient
-- Under its lock: no recipient was known by that address before.
UPDATE chan.conversations SET recipient_id = :recipient_id, version = version + 1
WHERE tenant_id = :tenant_id AND id = :id AND recipient_id IS NULL;

-- name: close_conversations
-- Those of these that are open; where `expired_until` is given, only those whose end has come.
WITH open AS MATERIALIZED (
    SELECT id FROM chan.conversations
    WHERE tenant_id = :tenant_id AND id = ANY(:ids::text[]) AND status = 'OPEN'
      AND (:expired_until::timestamptz IS NULL OR expires_at <= :expired_until::timestamptz)
    ORDER BY channel, sender_id, address_hash
    FOR UPDATE
)
UPDATE chan.conversations AS known
SET status = :status, closed_at = :now, close_reason = :reason, version = known.version + 1
FROM open
WHERE known.tenant_id = :tenant_id AND known.id = open.id
RETURNING known.id, known.channel, known.sender_id, known.recipient_id, known.status, known.turn_count, known.opened_by,
          known.use_case, known.ttl_seconds, known.vendor, known.account_id, known.opened_at, known.last_seen_at,
          known.last_mo_at, known.last_mt_at, known.expires_at, known.closed_at, known.close_reason, known.version,
          known.key_subject, known.address_ciphertext;

-- name: list_lines
-- A transcript as it was said.
SELECT id, conversation_id, at, occurred_at, direction, kind, status, reason, keyword, keyword_action, language, notification_id,
       vendor, account_id, key_subject, text_ciphertext
FROM chan.conversation_messages
WHERE tenant_id = :tenant_id AND conversation_id = :conversation_id
  AND (:after_at::timestamptz IS NULL OR (at, id) > (:after_at::timestamptz, :after_id::text))
ORDER BY at, id
LIMIT :limit;

-- name: find_expired
-- Open ones that have come to their end, across tenants, by ids alone.
SELECT tenant_id, id FROM chan.conversations
WHERE status = 'OPEN' AND expires_at <= :now
ORDER BY expires_at LIMIT :limit;

-- name: sweep_conversations
-- Closed ones that were kept long enough, with all that was said.
WITH over AS MATERIALIZED (
    SELECT tenant_id, id FROM chan.conversations
    WHERE closed_at <= :until AND status <> 'OPEN'
    ORDER BY closed_at LIMIT :limit
), lines AS (
    DELETE FROM chan.conversation_messages AS line USING over
    WHERE line.tenant_id = over.tenant_id AND line.conversation_id = over.id
), deliveries AS (
    DELETE FROM chan.inbound_deliveries AS delivery USING over
    WHERE delivery.tenant_id = over.tenant_id AND delivery.conversation_id = over.id
)
DELETE FROM chan.conversations AS known USING over
WHERE known.tenant_id = over.tenant_id AND known.id = over.id;
