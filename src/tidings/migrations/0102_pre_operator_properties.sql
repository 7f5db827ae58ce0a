-- tidings: oldest-release=0.1.0
-- An operator has rights to properties: none, a list of them, or all of the tenant.

ALTER TABLE bff_backoffice.operators ADD COLUMN IF NOT EXISTS properties TEXT[] COLLATE "C" NOT NULL DEFAULT '{}';
COMMENT ON COLUMN bff_backoffice.operators.properties IS
    'Ids of properties that they may see, as the systems call them that know properties; * alone: all of the tenant.';
COMMENT ON COLUMN bff_backoffice.operators.grant_hash IS
    'Proof that the application wrote tenant, role, properties and status of this row: a hash of them under a key that is not in the database. A row without the right one lets nobody in.';

CALL kernel.assert_protected();
