-- tidings: oldest-release=0.1.0
-- A consumer group may apply events of several tenants in one transaction, with one entry in its ledger for each.

CALL kernel.open_to_sets('notification.consumed_events');
CALL kernel.open_to_sets('chan.consumed_events');

-- As all functions of ours: only the triggers call it.
REVOKE ALL ON FUNCTION kernel.announce_change() FROM PUBLIC;

CALL kernel.assert_protected();
