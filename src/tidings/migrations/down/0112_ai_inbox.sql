-- Emergency only: undoes 0112_pre_ai_inbox. Decisions that the service was not told yet are in ai_decision_log alone.
DROP TABLE IF EXISTS bff_backoffice.ai_decision_deliveries;
DROP TABLE IF EXISTS bff_backoffice.ai_inbox_entries;
DROP TABLE IF EXISTS bff_backoffice.ai_inbox_places;
