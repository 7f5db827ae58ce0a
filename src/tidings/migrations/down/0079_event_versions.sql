-- Emergency only: undoes 0079_pre_event_versions. What groups have said about newer versions of events is forgotten.
DROP POLICY IF EXISTS worker_claims ON notification.event_readers;
REVOKE ALL ON notification.event_readers FROM tidings_worker;
DROP TABLE IF EXISTS kernel.event_version_readers;
DROP TABLE IF EXISTS kernel.event_versions;
