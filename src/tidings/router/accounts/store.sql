-- name: lock_accounts
-- There is no unique key over an owner and a vendor; two channels may change the same account at once. One at a time.
SELECT pg_advisory_xact_lock(7411003, hashtext(coalesce(:tenant_id::text, '')));

-- name: find_accounts
-- The tenant's own before the platform's, the newest of each first; those that are switched off among them.
SELECT id, tenant_id, provider, phone_number_id_or_handle, secret_ref, rate_limit_per_second, rate_limit_per_day,
       version, pricing_model, active, updated_at
FROM chan.channel_adapter_configs
WHERE (tenant_id = :tenant_id OR tenant_id IS NULL)
  AND (:vendors::text[] IS NULL OR provider = ANY(:vendors::text[]))
ORDER BY tenant_id NULLS LAST, id DESC;

-- name: find_accounts_of_all
-- Those of several tenants, the newest of each first, and the platform's; those that are switched off among them.
SELECT mine.*
FROM unnest(:tenant_ids::text[]) AS wanted (tenant_id)
CROSS JOIN LATERAL (
    SELECT id, tenant_id, provider, phone_number_id_or_handle, secret_ref, rate_limit_per_second, rate_limit_per_day,
           version, pricing_model, active, updated_at
    FROM chan.channel_adapter_configs
    WHERE tenant_id = wanted.tenant_id
    ORDER BY id DESC
) AS mine
UNION ALL
(
    SELECT id, tenant_id, provider, phone_number_id_or_handle, secret_ref, rate_limit_per_second, rate_limit_per_day,
           version, pricing_model, active, updated_at
    FROM chan.channel_adapter_configs
    WHERE tenant_id IS NULL
    ORDER BY id DESC
);

-- name: insert_accounts
-- Without a price an account's messages are not known to cost anything.
INSERT INTO chan.channel_adapter_configs (
    tenant_id, id, provider, phone_number_id_or_handle, secret_ref, rate_limit_per_second, rate_limit_per_day,
    pricing_model, created_at, updated_at
)
SELECT :tenant_id::text, fresh.id, fresh.provider, fresh.handle, fresh.secret_ref, fresh.per_second, fresh.per_day,
       fresh.prices::jsonb, fresh.created_at, fresh.created_at
FROM unnest(
    :ids::text[], :vendors::text[], :handles::text[], :secret_refs::text[], :per_seconds::integer[],
    :per_days::integer[], :prices::text[], :created_ats::timestamptz[]
) AS fresh (id, provider, handle, secret_ref, per_second, per_day, prices, created_at);

-- name: update_accounts
-- Under the lock: the values are whole, not changes. Egress stays as it is, and the circuit too, but for one that opened by
-- itself and whose account is to be read anew: it may be tried at once.
UPDATE chan.channel_adapter_configs AS mine
SET phone_number_id_or_handle = fresh.handle,
    secret_ref = fresh.secret_ref,
    rate_limit_per_second = fresh.per_second,
    rate_limit_per_day = fresh.per_day,
    pricing_model = fresh.prices::jsonb,
    active = fresh.active,
    updated_at = :now,
    version = mine.version + 1,
    circuit_until = CASE WHEN fresh.anew AND circuit_state = 'OPEN' AND NOT circuit_held THEN :now ELSE circuit_until END,
    circuit_changed_at =
        CASE WHEN fresh.anew AND circuit_state = 'OPEN' AND NOT circuit_held THEN :now ELSE circuit_changed_at END,
    circuit_version = circuit_version + (fresh.anew AND circuit_state = 'OPEN' AND NOT circuit_held)::integer
FROM unnest(
    :ids::text[], :handles::text[], :secret_refs::text[], :per_seconds::integer[], :per_days::integer[], :prices::text[],
    :actives::boolean[], :anews::boolean[]
) AS fresh (id, handle, secret_ref, per_second, per_day, prices, active, anew)
WHERE mine.tenant_id IS NOT DISTINCT FROM :tenant_id AND mine.id = fresh.id;
