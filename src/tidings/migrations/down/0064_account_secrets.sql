-- Emergency only: undoes 0064_pre_account_secrets. Accounts that read sealed:// secrets can send nothing after it.
DROP TABLE IF EXISTS chan.account_secrets;
