-- Emergency only: undoes 0101_pre_operator_sessions. Everybody is signed out.
DROP TABLE IF EXISTS bff_backoffice.attestations;
DROP TABLE IF EXISTS bff_backoffice.sessions;
DROP TABLE IF EXISTS bff_backoffice.devices;
