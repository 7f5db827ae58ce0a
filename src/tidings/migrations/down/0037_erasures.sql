-- Emergency only: undoes 0037_pre_erasures. Receipts are lost here; what was erased stays erased.
DROP TABLE IF EXISTS notification.erasures;
