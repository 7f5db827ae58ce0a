-- name: find_known_ids
-- For the access guard: which of these ids are keys at all, whosesoever they are. What a key may do is looked up one by one.
SELECT id FROM notification.api_keys WHERE id = ANY(:ids::text[]);
