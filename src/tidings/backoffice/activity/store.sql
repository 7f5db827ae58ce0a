-- part: columns
id, tenant_id, occurred_at, property_id, operator_id, device_id, session_id, category, action, resource_kind, resource_id, outcome,
    status, error_code, latency_ms, context_hash

-- name: insert_activity
-- A set, of several tenants or of the platform. One that is written again, from the journal of a process that was killed, is there already.
INSERT INTO bff_backoffice.operator_activity ({columns})
SELECT {columns}
FROM unnest(
    CAST(:ids AS text[]), CAST(:tenant_ids AS text[]), CAST(:occurred_at AS timestamptz[]), CAST(:property_ids AS text[]),
    CAST(:operator_ids AS text[]), CAST(:device_ids AS text[]), CAST(:session_ids AS text[]), CAST(:categories AS text[]),
    CAST(:actions AS text[]), CAST(:resource_kinds AS text[]), CAST(:resource_ids AS text[]), CAST(:outcomes AS text[]),
    CAST(:statuses AS smallint[]), CAST(:error_codes AS text[]), CAST(:latencies AS integer[]), CAST(:context_hashes AS text[])
) AS row ({columns})
ON CONFLICT (tenant_id, occurred_at, id) DO NOTHING;

-- part: looked
occurred_at >= :since AND (occurred_at, id) < (CAST(:before_at AS timestamptz), CAST(:before_id AS text))
    ORDER BY occurred_at DESC, id DESC
    LIMIT :most

-- part: glance
SELECT coalesce(array_agg(id ORDER BY occurred_at DESC, id DESC) FILTER (WHERE
        (CAST(:properties AS text[]) IS NULL OR property_id IS NULL OR property_id = ANY(CAST(:properties AS text[])) OR operator_id = :reader)
        AND (CAST(:operator_id AS text) IS NULL OR operator_id = :operator_id)
        AND (CAST(:property_id AS text) IS NULL OR property_id = :property_id)
        AND (CAST(:action AS text) IS NULL OR action = :action)
        AND (CAST(:category AS text) IS NULL OR category = :category)
        AND (CAST(:outcome AS text) IS NULL OR outcome = :outcome)
        AND (CAST(:resource_id AS text) IS NULL OR resource_id = :resource_id)
    ), '{}') AS ids,
    count(*) AS looked_at, (array_agg(id ORDER BY occurred_at, id))[1] AS last_id
FROM seen

-- name: look_by_time
-- The newest rows, and which of them fit: a page is gathered of several such looks.
WITH seen AS MATERIALIZED (
    SELECT id, occurred_at, property_id, operator_id, action, category, outcome, resource_id
    FROM bff_backoffice.operator_activity
    WHERE tenant_id = :tenant_id AND {looked}
)
{glance};

-- name: look_by_operator
-- The same among the rows of one operator, by their index.
WITH seen AS MATERIALIZED (
    SELECT id, occurred_at, property_id, operator_id, action, category, outcome, resource_id
    FROM bff_backoffice.operator_activity
    WHERE tenant_id = :tenant_id AND operator_id = :operator_id AND {looked}
)
{glance};

-- name: look_by_action
-- The same among the rows of one operation, by their index.
WITH seen AS MATERIALIZED (
    SELECT id, occurred_at, property_id, operator_id, action, category, outcome, resource_id
    FROM bff_backoffice.operator_activity
    WHERE tenant_id = :tenant_id AND action = :action AND {looked}
)
{glance};

-- name: find_activity
-- Those that a look has found; the times lead to their months.
SELECT {columns}
FROM bff_backoffice.operator_activity
WHERE tenant_id = :tenant_id AND occurred_at >= :oldest AND occurred_at <= :newest AND id = ANY(CAST(:ids AS text[]));

-- name: look_by_time_of_platform
-- The same for the platform's own: an index on a nullable tenant serves `=` and `IS NULL`, and nothing that means both.
WITH seen AS MATERIALIZED (
    SELECT id, occurred_at, property_id, operator_id, action, category, outcome, resource_id
    FROM bff_backoffice.operator_activity
    WHERE tenant_id IS NULL AND {looked}
)
{glance};

-- name: look_by_operator_of_platform
-- The same for the platform's own: an index on a nullable tenant serves `=` and `IS NULL`, and nothing that means both.
WITH seen AS MATERIALIZED (
    SELECT id, occurred_at, property_id, operator_id, action, category, outcome, resource_id
    FROM bff_backoffice.operator_activity
    WHERE tenant_id IS NULL AND operator_id = :operator_id AND {looked}
)
{glance};

-- name: look_by_action_of_platform
-- The same for the platform's own: an index on a nullable tenant serves `=` and `IS NULL`, and nothing that means both.
WITH seen AS MATERIALIZED (
    SELECT id, occurred_at, property_id, operator_id, action, category, outcome, resource_id
    FROM bff_backoffice.operator_activity
    WHERE tenant_id IS NULL AND action = :action AND {looked}
)
{glance};

-- name: find_activity_of_platform
-- Those that a look has found; the times lead to their months.
SELECT {columns}
FROM bff_backoffice.operator_activity
WHERE tenant_id IS NULL AND occurred_at >= :oldest AND occurred_at <= :newest AND id = ANY(CAST(:ids AS text[]));
