-- name: insert_inbound
-- What was told before falls out: the first wins. Keys are taken in one order by all workers, so that two sets with the same
-- messages wait for each other and never in a ring.
WITH said AS MATERIALIZED (
    SELECT * FROM unnest(
        :ids::text[], :account_ids::text[], :vendor_message_ids::text[], :channels::text[], :destinations::text[], :payloads::bytea[]
    ) AS said (id, account_id, vendor_message_id, channel, destination, payload)
), fresh AS (
    INSERT INTO chan.webhook_inbound_dedup (
        vendor, adapter, vendor_message_id, type, discriminator, event_id, received_at, expires_at
    )
    SELECT :vendor::text, account_id, vendor_message_id, 'mo', '', id, :now::timestamptz, :now::timestamptz + INTERVAL '90 days'
    FROM said
    ORDER BY account_id, vendor_message_id, id
    ON CONFLICT DO NOTHING
    RETURNING event_id
)
INSERT INTO chan.inbound_messages (
    id, received_at, vendor, adapter, vendor_message_id, channel, destination, payload_ciphertext, next_attempt_at, updated_at
)
SELECT said.id, :now::timestamptz, :vendor::text, said.account_id, said.vendor_message_id, said.channel, said.destination,
       said.payload, :now::timestamptz, :now::timestamptz
FROM said JOIN fresh ON fresh.event_id = said.id
RETURNING id;

-- name: announce
-- For processes that take on what this one only takes in.
SELECT pg_notify('tidings_conversations', 'queued');

-- name: claim_inbound
-- In the order in which they came, some of each account: whose people write much does not keep those of the others waiting.
-- They stay locked until they are marked in this same transaction: a worker that dies lets go of them at once. Each comes
-- with whose account was written to, and whose route the number is.
WITH RECURSIVE accounts AS (
    (
        SELECT adapter FROM chan.inbound_messages WHERE status = 'queued' ORDER BY adapter LIMIT 1
    )
    UNION ALL
    SELECT other.adapter
    FROM accounts
    CROSS JOIN LATERAL (
        SELECT adapter FROM chan.inbound_messages
        WHERE status = 'queued' AND adapter > accounts.adapter
        ORDER BY adapter LIMIT 1
    ) AS other
), mine AS MATERIALIZED (
    SELECT message.id, message.received_at, message.vendor, message.adapter, message.channel, message.destination, message.attempts
    FROM accounts
    CROSS JOIN LATERAL (
        SELECT id, received_at, vendor, adapter, channel, destination, attempts
        FROM chan.inbound_messages
        WHERE status = 'queued' AND adapter = accounts.adapter AND next_attempt_at <= :now::timestamptz
        ORDER BY next_attempt_at, id LIMIT greatest(:limit::bigint / (SELECT count(*) FROM accounts), :least::bigint)
        FOR UPDATE SKIP LOCKED
    ) AS message
)
SELECT mine.id, mine.received_at, mine.vendor, mine.adapter, mine.channel, mine.destination, mine.attempts,
       account.tenant_id AS owner_id, route.tenant_id AS route_tenant_id
FROM mine
LEFT JOIN LATERAL (
    SELECT tenant_id FROM chan.channel_adapter_configs WHERE id = mine.adapter
    OFFSET 0
) AS account ON true
LEFT JOIN LATERAL (
    SELECT tenant_id FROM chan.tenant_inbound_routes
    WHERE ltrim(inbound, '+') = ltrim(mine.destination, '+') AND inbound IN (mine.destination, ltrim(mine.destination, '+'))
      AND active AND platform
      AND (grace_period_ends_at IS NULL OR grace_period_ends_at > :now::timestamptz)
    LIMIT 1
) AS route ON true
ORDER BY mine.received_at, mine.id;

-- name: next_inbound
-- When the next look is needed.
SELECT next_attempt_at FROM chan.inbound_messages WHERE status = 'queued' ORDER BY next_attempt_at LIMIT 1;

-- name: load_payloads
-- What they say, as the platform, which alone may read it: they have no owner yet.
SELECT message.id, message.payload_ciphertext
FROM unnest(:ids::text[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT id, payload_ciphertext FROM chan.inbound_messages WHERE id = wanted.id AND tenant_id IS NULL
    OFFSET 0
) AS message;

-- name: find_open
-- The tenant of the conversation that each belongs to: the one in which something was said last. Across tenants, by hashes that only the
-- platform can make. Of conversations over the platform's accounts alone: what a tenant's own account says of its people and
-- numbers is its word for it. And of those that were open then, give or take a little: what was held up is not for
-- a tenant that has written to them since, and not lost because it is over by now: it may be this very message that ended it, and
-- the worker that was to mark it is gone.
SELECT wanted.place, open.tenant_id
FROM unnest(:channels::text[], :destinations::text[], :hashes::text[], :ats::timestamptz[])
    WITH ORDINALITY AS wanted (channel, destination, hash, at, place)
CROSS JOIN LATERAL (
    SELECT tenant_id FROM chan.conversations
    WHERE platform_hash = wanted.hash AND sender_id = wanted.destination AND channel = wanted.channel
      AND opened_at <= wanted.at + INTERVAL '5 minutes' AND expires_at > wanted.at
      AND (status = 'OPEN' OR closed_at >= wanted.at)
      AND EXISTS (
          SELECT FROM chan.channel_adapter_configs AS account
          WHERE account.id = conversations.account_id AND account.tenant_id IS NULL
      )
    ORDER BY last_seen_at DESC LIMIT 1
) AS open;

-- name: find_last
-- A keyword is heard also after the conversation is over: whose was the last one by then.
SELECT wanted.place, last.tenant_id
FROM unnest(:channels::text[], :destinations::text[], :hashes::text[], :ats::timestamptz[])
    WITH ORDINALITY AS wanted (channel, destination, hash, at, place)
CROSS JOIN LATERAL (
    SELECT tenant_id FROM chan.conversations
    WHERE platform_hash = wanted.hash AND sender_id = wanted.destination AND channel = wanted.channel
      AND opened_at <= wanted.at + INTERVAL '5 minutes'
      AND EXISTS (
          SELECT FROM chan.channel_adapter_configs AS account
          WHERE account.id = conversations.account_id AND account.tenant_id IS NULL
      )
    ORDER BY last_seen_at DESC LIMIT 1
) AS last;

-- name: find_sharers
-- Which tenants wrote to these people from these numbers in the last 18 months, over the platform's accounts; the last one first.
SELECT wanted.place, known.tenant_id
FROM unnest(:channels::text[], :destinations::text[], :hashes::text[], :ats::timestamptz[])
    WITH ORDINALITY AS wanted (channel, destination, hash, at, place)
CROSS JOIN LATERAL (
    SELECT tenant_id, last_sent_at FROM chan.shared_number_contacts
    WHERE platform_hash = wanted.hash AND sender_id = wanted.destination AND channel = wanted.channel
      AND last_sent_at > wanted.at - INTERVAL '18 months' AND last_sent_at <= wanted.at + INTERVAL '5 minutes'
    OFFSET 0
) AS known
ORDER BY wanted.place, known.last_sent_at DESC, known.tenant_id;

-- name: sweep_contacts
-- A chunk of those whose last message is so old that no STOP reaches them any more.
WITH over AS (
    SELECT tenant_id, platform_hash, sender_id, channel FROM chan.shared_number_contacts
    WHERE last_sent_at <= :until ORDER BY last_sent_at LIMIT :limit
)
DELETE FROM chan.shared_number_contacts AS known USING over
WHERE known.tenant_id = over.tenant_id AND known.platform_hash = over.platform_hash AND known.sender_id = over.sender_id
  AND known.channel = over.channel;

-- name: mark_applied
-- Handed over: what was sealed here stands in the transcript, and is removed without being read.
UPDATE chan.inbound_messages AS message
SET status = 'applied', tenant_id = mark.tenant_id, payload_ciphertext = NULL, attempts = message.attempts + 1,
    updated_at = :now::timestamptz
FROM unnest(:ids::text[], :tenant_ids::text[]) AS mark (id, tenant_id)
WHERE message.id = mark.id;

-- name: mark_unmatched
-- Of no tenant: counted by where it was written to, and nothing of it is kept. Rows of the count are taken in one order.
WITH gone AS (
    UPDATE chan.inbound_messages
    SET status = 'unmatched', payload_ciphertext = NULL, attempts = attempts + 1, updated_at = :now::timestamptz
    WHERE id = ANY(:ids::text[])
    RETURNING destination
)
INSERT INTO chan.inbound_unmatched AS known (destination, bucket, messages)
SELECT destination, date_trunc('minute', :now::timestamptz), count(*) FROM gone GROUP BY destination ORDER BY destination
ON CONFLICT (destination, bucket) DO UPDATE SET messages = known.messages + excluded.messages;

-- name: mark_again
-- It went wrong: the next look, or the end of them.
UPDATE chan.inbound_messages AS message
SET status = mark.status, attempts = message.attempts + mark.looks, next_attempt_at = coalesce(mark.next_at, message.next_attempt_at),
    updated_at = :now::timestamptz
FROM unnest(:ids::text[], :statuses::text[], :next_ats::timestamptz[], :looks::integer[]) AS mark (id, status, next_at, looks)
WHERE message.id = mark.id;

-- name: sweep_inbound
-- A chunk of what is done and old enough; what is no tenant's goes sooner.
WITH over AS (
    SELECT id FROM chan.inbound_messages
    WHERE (status = 'unmatched' AND updated_at <= :unmatched_until) OR (status IN ('applied', 'dead') AND updated_at <= :done_until)
    ORDER BY updated_at LIMIT :limit
)
DELETE FROM chan.inbound_messages AS message USING over WHERE message.id = over.id;

-- name: list_unmatched
-- For operators: numbers that people write to without a tenant, the most frequent first.
SELECT destination, sum(messages)::bigint AS messages, max(bucket) AS last_at
FROM chan.inbound_unmatched
WHERE bucket >= :since
GROUP BY destination
ORDER BY 2 DESC, destination
LIMIT :limit;

-- name: sweep_unmatched
-- A chunk of old counts.
WITH over AS (
    SELECT destination, bucket FROM chan.inbound_unmatched WHERE bucket <= :until ORDER BY bucket LIMIT :limit
)
DELETE FROM chan.inbound_unmatched AS known USING over
WHERE known.destination = over.destination AND known.bucket = over.bucket;

-- name: list_inbound
-- For operators: what stands in no conversation, the newest first; ids begin with their time. The statuses are said outright, so
-- that the index of each serves, whatever plan is kept.
SELECT id, received_at, vendor, adapter, vendor_message_id, channel, destination, status, attempts, updated_at,
       CASE WHEN status <> 'dead' THEN next_attempt_at END AS next_look_at
FROM chan.inbound_messages
WHERE tenant_id IS NULL
  AND ((:status::text = 'dead' AND status = 'dead') OR (:status::text = 'queued' AND status = 'queued'))
  AND (:vendor::text IS NULL OR vendor = :vendor::text)
  AND (:account_id::text IS NULL OR adapter = :account_id::text)
  AND (:since::timestamptz IS NULL OR received_at >= :since::timestamptz)
  AND (:after_id::text IS NULL OR id < :after_id::text)
ORDER BY id DESC
LIMIT :limit;

-- name: show_inbound
-- One of them.
SELECT id, received_at, vendor, adapter, vendor_message_id, channel, destination, status, attempts, updated_at,
       CASE WHEN status <> 'dead' THEN next_attempt_at END AS next_look_at
FROM chan.inbound_messages
WHERE id = :id AND tenant_id IS NULL AND status IN ('queued', 'dead');

-- name: requeue_inbound
-- Requeues dead letters: looked at at once, and then as if they had just come.
WITH dead AS MATERIALIZED (
    SELECT id FROM chan.inbound_messages
    WHERE status = 'dead' AND tenant_id IS NULL
      AND (:ids::text[] IS NULL OR id = ANY(:ids::text[]))
      AND (:vendor::text IS NULL OR vendor = :vendor::text)
      AND (:since::timestamptz IS NULL OR received_at >= :since::timestamptz)
    ORDER BY id LIMIT :limit
    FOR UPDATE SKIP LOCKED
), again AS (
    UPDATE chan.inbound_messages AS message
    SET status = 'queued', attempts = 0, next_attempt_at = :now::timestamptz, updated_at = :now::timestamptz
    FROM dead
    WHERE message.id = dead.id
    RETURNING message.id, message.vendor
)
SELECT id, vendor FROM again ORDER BY id;
