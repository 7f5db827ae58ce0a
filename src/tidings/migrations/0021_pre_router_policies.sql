-- Fallback ladders per tenant and use case, and every version they had.

CREATE TABLE IF NOT EXISTS chan.fallback_policies (
    tenant_id              TEXT COLLATE "C" NOT NULL,
    id                     TEXT COLLATE "C" NOT NULL,
    use_case               TEXT NOT NULL,
    strategy               TEXT NOT NULL DEFAULT 'SEQUENTIAL',
    ladder_order           TEXT NOT NULL DEFAULT 'fixed',
    cost_cap_micros        BIGINT,
    cost_cap_currency      TEXT COLLATE "C" NOT NULL,
    session_ttl_seconds    INTEGER NOT NULL DEFAULT 86400,
    ladder                 JSONB NOT NULL,
    description            TEXT,
    stop_keywords_override TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    version                INTEGER NOT NULL DEFAULT 1,
    created_by             TEXT NOT NULL,
    updated_by             TEXT NOT NULL,
    created_at             TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at             TIMESTAMPTZ NOT NULL DEFAULT now(),
    deleted_at             TIMESTAMPTZ,
    grace_period_ends_at   TIMESTAMPTZ,
    CONSTRAINT pk_fallback_policies PRIMARY KEY (tenant_id, id),
    CONSTRAINT ck_fallback_policies_id CHECK (id ~ '^policy_[0-9A-HJKMNP-TV-Z]{26}$'),
    CONSTRAINT ck_fallback_policies_use_case CHECK (use_case IN ('otp', 'txn', 'marketing', 'alert', 'conversational')),
    CONSTRAINT ck_fallback_policies_strategy CHECK (strategy IN ('SEQUENTIAL', 'PARALLEL', 'FAILOVER')),
    CONSTRAINT ck_fallback_policies_order CHECK (ladder_order IN ('fixed', 'learned', 'cheapest')),
    CONSTRAINT ck_fallback_policies_cost_cap CHECK (cost_cap_micros >= 0),
    CONSTRAINT ck_fallback_policies_currency CHECK (cost_cap_currency ~ '^[A-Z]{3}$'),
    CONSTRAINT ck_fallback_policies_session_ttl CHECK (session_ttl_seconds > 0),
    CONSTRAINT ck_fallback_policies_ladder CHECK (jsonb_typeof(ladder) = 'array')
);
CREATE UNIQUE INDEX IF NOT EXISTS ux_fallback_policies_use_case
    ON chan.fallback_policies (tenant_id, use_case) WHERE deleted_at IS NULL;
COMMENT ON TABLE chan.fallback_policies IS 'A tenant''s ladder for a use case: steps, deadlines, cost cap, STOP words.';
COMMENT ON COLUMN chan.fallback_policies.cost_cap_micros IS
    'Per message: reserved plus spent never passes it. Null: no cap.';
COMMENT ON COLUMN chan.fallback_policies.cost_cap_currency IS 'Of the cap; costs are summed in it.';
COMMENT ON COLUMN chan.fallback_policies.description IS 'For people.';
COMMENT ON COLUMN chan.fallback_policies.ladder IS 'Steps: channel, deadline seconds, retry budget, conditions, what counts as success.';
COMMENT ON COLUMN chan.fallback_policies.deleted_at IS
    'Soft delete: new messages do not go by it, those under way finish by their frozen ladder.';
COMMENT ON COLUMN chan.fallback_policies.grace_period_ends_at IS 'Until then a deleted one can be restored.';
CALL kernel.protect_tenant_table('chan.fallback_policies', 'SELECT, INSERT, UPDATE');

CREATE TABLE IF NOT EXISTS chan.fallback_policy_versions (
    tenant_id  TEXT COLLATE "C" NOT NULL,
    policy_id  TEXT COLLATE "C" NOT NULL,
    version    INTEGER NOT NULL,
    snapshot   TEXT NOT NULL,
    changed_by TEXT NOT NULL,
    changed_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT pk_fallback_policy_versions PRIMARY KEY (tenant_id, policy_id, version),
    CONSTRAINT fk_fallback_policy_versions_policy FOREIGN KEY (tenant_id, policy_id)
        REFERENCES chan.fallback_policies (tenant_id, id)
);
COMMENT ON TABLE chan.fallback_policy_versions IS 'Every version a policy had, as it was.';
COMMENT ON COLUMN chan.fallback_policy_versions.snapshot IS 'JSON of the whole policy.';
CALL kernel.protect_tenant_table('chan.fallback_policy_versions', 'SELECT, INSERT');
