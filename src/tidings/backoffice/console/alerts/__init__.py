"""The area of alerts: the inbox, what to do next, and mutes."""
