-- Emergency only: undoes 0017_pre_seed_registry. Rows are lost.

-- Tables that refer to a category keep it: the delete stops there.
DELETE FROM notification_platform.categories WHERE category IN (
    'transactional', 'operational', 'security', 'reminder', 'marketing', 'system', 'academic', 'billing', 'social',
    'compliance'
);
