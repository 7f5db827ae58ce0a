-- name: forget_profiles
-- Whole rows: numbers, chat ids and how well each channel reached them say something about the person.
DELETE FROM chan.recipient_profiles AS mine
USING unnest(:recipient_ids::text[]) AS gone (recipient_id)
WHERE mine.tenant_id = :tenant_id AND mine.recipient_id = gone.recipient_id;
