-- Emergency only: undoes 0068_pre_announced_changes. Processes that remember a row for a minute then see a change that late.
DO $$
DECLARE
    target regclass;
BEGIN
    FOR target IN SELECT tgrelid::regclass FROM pg_trigger WHERE tgname = 'announce_change'
    LOOP
        EXECUTE format('DROP TRIGGER announce_change ON %s', target);
    END LOOP;
END;
$$;
DROP FUNCTION IF EXISTS kernel.announce_change();
