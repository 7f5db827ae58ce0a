-- name: find_listening
-- Accounts of vendors that speak over the adapter's own connection, across tenants, by ids alone. Those that are switched off
-- too: what they say of messages that went before still counts.
SELECT account.id, account.tenant_id
FROM chan.channel_adapter_configs AS account
WHERE EXISTS (
    SELECT FROM unnest(:kinds::text[]) AS kind (name)
    WHERE account.provider = kind.name OR starts_with(account.provider, kind.name || '_')
)
ORDER BY account.id;
