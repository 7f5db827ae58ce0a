-- Emergency only: undoes 0113_pre_conditions. No alert is raised by a look at these tables any more.
DROP TABLE IF EXISTS kernel.processes;
DO $$
DECLARE
    tbl text;
BEGIN
    FOREACH tbl IN ARRAY ARRAY['notification.webhook_subscriptions', 'notification.api_keys', 'notification.counters', 'notification.template_versions'] LOOP
        EXECUTE format('DROP POLICY IF EXISTS worker_claims ON %s', tbl);
        CALL kernel.set_grants(tbl::regclass, 'tidings_worker', '');
    END LOOP;
END;
$$;
