-- Emergency only: undoes 0046_pre_address_refusals. What people refused by their address is lost; export it first.
ALTER TABLE notification.opt_out_tokens DROP COLUMN IF EXISTS address_hash;
DROP TABLE IF EXISTS notification.address_refusals;
