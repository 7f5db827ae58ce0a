-- Emergency only: undoes 0105_pre_operator_announcements. Streams that were open begin anew.
DROP TABLE IF EXISTS bff_backoffice.announcements;
DROP TABLE IF EXISTS bff_backoffice.announcement_heads;
DROP FUNCTION IF EXISTS bff_backoffice.number_announcement();
