-- tidings: oldest-release=0.1.0
-- The exact words of regulated notifications are objects in the blob store; the columns that were to hold short ones never did.

-- Nothing has ever written or read them.
-- squawk-ignore ban-drop-column
ALTER TABLE notification.notifications DROP COLUMN IF EXISTS body_ciphertext;
-- squawk-ignore ban-drop-column
ALTER TABLE notification.notifications DROP COLUMN IF EXISTS subject_ciphertext;

COMMENT ON COLUMN notification.notifications.body_ref IS
    'JSON: by channel, where its exact words are: an object in the blob store and a place in it, under the key of whoever was written to. Kept 7 years. Null where the category is not regulated.';
COMMENT ON COLUMN notification.notifications.variables_ciphertext IS 'Under the recipient''s data key.';

CALL kernel.assert_protected();
