-- Emergency only: undoes 0119_pre_alert_budgets. What tenants mean to spend is lost.
DROP TABLE IF EXISTS bff_backoffice.alert_budgets;
