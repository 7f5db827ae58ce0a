"""Who may call: API keys, tokens, and a note of every time the platform acts for a tenant."""
