-- tidings: oldest-release=0.1.0
-- Who has an inbox open is written and asked in sets that span tenants.
CALL kernel.open_to_sets('kernel.hot_presence');
-- Processes write it, and no caller does.
CALL kernel.narrow_by_caller_role('kernel.hot_presence');
COMMENT ON TABLE kernel.hot_presence IS
    'Who is here: which process holds a live stream of which recipient (key), over what and since when (member). A row that is not renewed expires.';
CALL kernel.assert_protected();
