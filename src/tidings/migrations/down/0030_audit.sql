-- Emergency only: the audit and its anchors are gone for good.
DELETE FROM kernel.partitioned_tables WHERE parent IN ('notification.audit', 'chan.audit');
DROP TABLE IF EXISTS kernel.audit_anchor_lines;
DROP TABLE IF EXISTS kernel.audit_anchors;
DROP TABLE IF EXISTS chan.audit_heads;
DROP TABLE IF EXISTS chan.audit;
DROP TABLE IF EXISTS notification.audit_heads;
DROP TABLE IF EXISTS notification.audit;
