-- name: find_account
-- The account that a token names, across tenants, by the end of its id. Two that end alike can't be told apart.
SELECT id, provider FROM chan.channel_adapter_configs
WHERE right(id, 8) = :mark AND provider LIKE 'smtp%'
LIMIT 2;
