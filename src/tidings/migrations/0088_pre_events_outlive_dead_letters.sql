-- tidings: oldest-release=0.1.0
-- Received events are kept for a day longer than dead letters, so that one which is replayed still finds what it is about.

UPDATE kernel.partitioned_tables SET keep = 15 WHERE parent = 'notification.received_events' AND keep < 15;
COMMENT ON TABLE notification.received_events IS
    'Events that other systems sent. One partition a day, dropped after fifteen: a day later than dead letters are.';
COMMENT ON COLUMN notification.dedup_ledger.channel IS
    'With what else tells messages apart that one event makes of a template for somebody: email@<time> for each time that it was planned for, test:… for tests.';

CALL kernel.assert_protected();
