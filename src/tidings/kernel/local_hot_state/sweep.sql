-- name: sweep_limits
-- The oldest first, about so many at a time, across tenants.
DELETE FROM kernel.hot_limits
WHERE expires_at <= (
    SELECT max(oldest.expires_at)
    FROM (SELECT expires_at FROM kernel.hot_limits WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit) AS oldest
);

-- name: sweep_presence
-- The oldest first, about so many at a time, across tenants.
DELETE FROM kernel.hot_presence
WHERE expires_at <= (
    SELECT max(oldest.expires_at)
    FROM (SELECT expires_at FROM kernel.hot_presence WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit) AS oldest
);

-- name: sweep_leases
-- The oldest first, about so many at a time, across tenants.
DELETE FROM kernel.hot_leases
WHERE expires_at <= (
    SELECT max(oldest.expires_at)
    FROM (SELECT expires_at FROM kernel.hot_leases WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit) AS oldest
);
