-- name: list_budgets
-- One for each currency.
SELECT currency, micros FROM bff_backoffice.alert_budgets WHERE tenant_id = :tenant_id ORDER BY currency;

-- name: put_budget
-- The last word counts.
INSERT INTO bff_backoffice.alert_budgets (tenant_id, currency, micros, set_by, updated_at)
VALUES (:tenant_id, :currency, :micros, :set_by, :now)
ON CONFLICT (tenant_id, currency) DO UPDATE
SET micros = excluded.micros, set_by = excluded.set_by, updated_at = excluded.updated_at;

-- name: remove_budget
-- Nobody is told of spend in it any more.
DELETE FROM bff_backoffice.alert_budgets WHERE tenant_id = :tenant_id AND currency = :currency;

-- name: tenants_with_budgets
-- Whose spend is worth a look.
SELECT DISTINCT tenant_id FROM bff_backoffice.alert_budgets ORDER BY tenant_id LIMIT 5000;
