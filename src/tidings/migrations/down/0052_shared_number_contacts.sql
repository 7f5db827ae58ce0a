-- Emergency only: undoes 0052_pre_shared_number_contacts. Who wrote from a shared number is forgotten.
DROP TABLE IF EXISTS chan.shared_number_contacts;
