"""The preference centre: links in messages that let people say what they want to hear, without logging in."""
