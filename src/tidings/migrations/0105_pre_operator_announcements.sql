-- tidings: oldest-release=0.1.0
-- What devices of operators hear over their stream. Announcements of a tenant are numbered without gaps in the order in which they
-- commit: a device that names the last number it heard gets what came after, and knows when that is not kept any more.

CREATE TABLE IF NOT EXISTS bff_backoffice.announcement_heads (
    tenant_id TEXT COLLATE "C",
    latest    BIGINT NOT NULL,
    CONSTRAINT uq_announcement_heads_tenant UNIQUE NULLS NOT DISTINCT (tenant_id)
) WITH (fillfactor = 50);
COMMENT ON TABLE bff_backoffice.announcement_heads IS 'The number of the last announcement of each tenant; tenant_id null: of the platform.';
CALL kernel.protect_tenant_table('bff_backoffice.announcement_heads', 'SELECT, INSERT, UPDATE', true);
CALL kernel.open_to_sets('bff_backoffice.announcement_heads');
CALL kernel.open_to_platform('bff_backoffice.announcement_heads', 'SELECT, INSERT, UPDATE', true);

CREATE TABLE IF NOT EXISTS bff_backoffice.announcements (
    tenant_id   TEXT COLLATE "C",
    id          TEXT COLLATE "C" NOT NULL,
    number      BIGINT,
    channel     TEXT COLLATE "C" NOT NULL,
    property_id TEXT COLLATE "C",
    operator_id TEXT COLLATE "C",
    device_id   TEXT COLLATE "C",
    facts       TEXT NOT NULL,
    told_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT pk_announcements PRIMARY KEY (id),
    CONSTRAINT uq_announcements_number UNIQUE (tenant_id, number),
    CONSTRAINT ck_announcements_id CHECK (id ~ '^ann_[0-9A-HJKMNP-TV-Z]{26}$')
);
CREATE INDEX IF NOT EXISTS ix_announcements_told ON bff_backoffice.announcements (told_at);
COMMENT ON TABLE bff_backoffice.announcements IS 'What open streams of operators'' devices are told: ids and counts; kept for an hour. tenant_id null: of the platform.';
COMMENT ON COLUMN bff_backoffice.announcements.number IS 'Its place in the order of commits within the tenant; null only within the transaction that tells it.';
COMMENT ON COLUMN bff_backoffice.announcements.property_id IS 'Heard by who has a right to this property; null: by everybody of the tenant whom the next two name.';
COMMENT ON COLUMN bff_backoffice.announcements.facts IS 'JSON: ids and counts.';
CALL kernel.protect_tenant_table('bff_backoffice.announcements', 'SELECT, INSERT, UPDATE (number)', true);
CALL kernel.open_to_sets('bff_backoffice.announcements');
CALL kernel.open_to_platform('bff_backoffice.announcements', 'SELECT, INSERT, UPDATE (number)', true);
CALL kernel.open_to_worker('bff_backoffice.announcements', 'SELECT (tenant_id, id, told_at), DELETE');
CALL kernel.store_as_ledger('bff_backoffice.announcements');

CREATE OR REPLACE FUNCTION bff_backoffice.number_announcement() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    given bigint;
BEGIN
    -- At the commit: whoever comes later to this row waits until we have committed, and nothing else is locked behind it.
    INSERT INTO bff_backoffice.announcement_heads AS head (tenant_id, latest) VALUES (new.tenant_id, 1)
    ON CONFLICT (tenant_id) DO UPDATE SET latest = head.latest + 1
    RETURNING head.latest INTO given;
    UPDATE bff_backoffice.announcements SET number = given WHERE tenant_id IS NOT DISTINCT FROM new.tenant_id AND id = new.id;
    PERFORM pg_notify('tidings_announcements', coalesce(new.tenant_id, ''));
    RETURN NULL;
END;
$$;
COMMENT ON FUNCTION bff_backoffice.number_announcement() IS 'Trigger: numbers an announcement in the order of commits, and wakes the streams of its tenant.';
REVOKE ALL ON FUNCTION bff_backoffice.number_announcement() FROM PUBLIC;

DROP TRIGGER IF EXISTS number_at_commit ON bff_backoffice.announcements;
CREATE CONSTRAINT TRIGGER number_at_commit AFTER INSERT ON bff_backoffice.announcements
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION bff_backoffice.number_announcement();

CALL kernel.assert_protected();
