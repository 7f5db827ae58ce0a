-- name: find_told
-- The recipients of attempts, and their notifications: of ladders under way and of those that are over. Of those that
-- were lost, whether it had been said that they arrived.
SELECT made.id AS attempt_id, made.channel, made.provider,
       coalesce(live.notification_id, ended.notification_id) AS notification_id,
       coalesce(live.recipient_id, ended.recipient_id) AS recipient_id,
       wanted.lost AND EXISTS (
           SELECT FROM chan.delivery_attempt_events AS said
           WHERE said.tenant_id = :tenant_id AND said.attempt_id = wanted.attempt_id
             AND said.recorded_at >= wanted.attempt_started_at - interval '5 minutes'
             AND said.status = ANY (:arrived::text[])
       ) AS arrived
FROM unnest(
    :attempt_ids::text[], :attempt_started_ats::timestamptz[], :execution_ids::text[],
    :execution_started_ats::timestamptz[], :losts::boolean[]
) AS wanted (attempt_id, attempt_started_at, execution_id, execution_started_at, lost)
CROSS JOIN LATERAL (
    SELECT id, channel, provider FROM chan.delivery_attempts
    WHERE tenant_id = :tenant_id AND id = wanted.attempt_id AND started_at = wanted.attempt_started_at
    LIMIT 1
) AS made
LEFT JOIN LATERAL (
    SELECT notification_id, recipient_id FROM chan.executions_live
    WHERE tenant_id = :tenant_id AND id = wanted.execution_id
    LIMIT 1
) AS live ON true
LEFT JOIN LATERAL (
    SELECT notification_id, recipient_id FROM chan.fallback_executions
    WHERE tenant_id = :tenant_id AND id = wanted.execution_id AND started_at = wanted.execution_started_at
    LIMIT 1
) AS ended ON true
WHERE coalesce(live.notification_id, ended.notification_id) IS NOT NULL;
