-- tidings: oldest-release=0.1.0
-- How far a sweep has come that goes through everything once, so that whoever takes it up next goes on there.

CREATE TABLE IF NOT EXISTS kernel.sweep_marks (
    name        TEXT COLLATE "C" NOT NULL,
    swept_until TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT pk_sweep_marks PRIMARY KEY (name)
);
COMMENT ON TABLE kernel.sweep_marks IS 'How far each sweep has come; its row is locked by whoever sweeps.';
CALL kernel.protect_service_table('kernel.sweep_marks');
CALL kernel.open_to_worker('kernel.sweep_marks', 'SELECT, INSERT, UPDATE');

CALL kernel.assert_protected();
