-- The categories of both notify seeds, with their policies. The platform may change them afterwards:
-- running this file again changes nothing that is there.

INSERT INTO notification_platform.categories
    (category, title, default_use_case, retention_class, default_priority, default_expiry_seconds,
     needs_consent, can_unsubscribe, breaks_quiet_hours, may_digest, tracking_allowed)
VALUES
    ('transactional', 'Transactional', 'txn',            'regulated', 'normal', 259200, false, false, false, false, true),
    ('operational',   'Operational',   'alert',          'standard',  'normal',  86400, false, true,  false, true,  true),
    ('security',      'Security',      'alert',          'regulated', 'high',    86400, false, false, true,  false, false),
    ('reminder',      'Reminder',      'txn',            'standard',  'normal',  86400, false, true,  false, true,  true),
    ('marketing',     'Marketing',     'marketing',      'marketing', 'low',    604800, true,  true,  false, true,  true),
    ('system',        'System',        'alert',          'standard',  'normal',  86400, false, false, false, true,  false),
    ('academic',      'Academic',      'txn',            'standard',  'normal', 259200, false, true,  false, true,  true),
    ('billing',       'Billing',       'txn',            'regulated', 'normal', 604800, false, false, false, false, true),
    ('social',        'Social',        'conversational', 'standard',  'low',    259200, false, true,  false, true,  true),
    ('compliance',    'Compliance',    'txn',            'regulated', 'high',   604800, false, false, false, false, false)
ON CONFLICT (category) DO NOTHING;
