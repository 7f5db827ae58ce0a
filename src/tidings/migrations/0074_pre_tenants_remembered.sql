-- tidings: oldest-release=0.1.0
-- Dispatch remembers how tenants send: channels and branding too, besides what was announced before.

DROP TRIGGER IF EXISTS announce_change ON notification.channels;
CREATE TRIGGER announce_change AFTER INSERT OR UPDATE OR DELETE ON notification.channels
    FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');
DROP TRIGGER IF EXISTS announce_change ON notification.branding;
CREATE TRIGGER announce_change AFTER INSERT OR UPDATE OR DELETE ON notification.branding
    FOR EACH ROW EXECUTE FUNCTION kernel.announce_change('tenant_id');
