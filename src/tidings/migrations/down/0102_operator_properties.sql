-- Emergency only: undoes 0102_pre_operator_properties. Operators who had rights to properties have a broken grant afterwards.
ALTER TABLE bff_backoffice.operators DROP COLUMN IF EXISTS properties;
