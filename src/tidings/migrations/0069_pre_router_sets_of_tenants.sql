-- tidings: oldest-release=0.1.0
-- The router begins, calls and records executions in sets that span tenants: what these statements touch is opened to them.

-- The executions themselves, and what is written when one goes on or ends.
CALL kernel.open_to_sets('chan.executions_live');
CALL kernel.open_to_sets('chan.fallback_executions');
CALL kernel.open_to_sets('chan.delivery_attempts');
CALL kernel.open_to_sets('chan.delivery_attempt_events');
CALL kernel.open_to_sets('chan.delivery_outbox');
CALL kernel.open_to_sets('chan.outbox');
CALL kernel.open_to_sets('chan.spend_daily');
-- Messages that can be answered begin a conversation in the same transaction.
CALL kernel.open_to_sets('chan.conversations');
CALL kernel.open_to_sets('chan.conversation_messages');
CALL kernel.open_to_sets('chan.shared_number_contacts');
-- What a set is planned by.
CALL kernel.open_to_sets('chan.fallback_policies');
CALL kernel.open_to_sets('chan.channel_adapter_configs');

CALL kernel.assert_protected();
