-- Emergency only: undoes 0008_pre_channels_and_credentials. Rows are lost.

DROP TABLE IF EXISTS notification.channel_credentials;
DROP TABLE IF EXISTS notification.channels;
