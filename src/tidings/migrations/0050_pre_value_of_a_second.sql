-- tidings: oldest-release=0.1.0
-- What waiting costs when the order of a ladder is learned is the policy's to say.

ALTER TABLE chan.fallback_policies ADD COLUMN IF NOT EXISTS value_of_a_second BIGINT
    CONSTRAINT ck_fallback_policies_value_of_a_second CHECK (value_of_a_second >= 0);
COMMENT ON COLUMN chan.fallback_policies.value_of_a_second IS
    'What a second of waiting costs where the order is learned, in micros of the currency. Null: the use case''s own.';
