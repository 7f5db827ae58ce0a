-- Emergency only: undoes 0100_pre_operators. All operators are lost, with their passwords and authenticators.
DROP TABLE IF EXISTS bff_backoffice.operators;
