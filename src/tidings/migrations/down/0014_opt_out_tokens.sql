-- Emergency only: undoes 0014_pre_opt_out_tokens. Rows are lost.

DROP TABLE IF EXISTS notification.opt_out_tokens;
