-- Emergency only: undoes 0050_pre_value_of_a_second. What policies say about waiting is lost.
ALTER TABLE chan.fallback_policies DROP COLUMN IF EXISTS value_of_a_second;
