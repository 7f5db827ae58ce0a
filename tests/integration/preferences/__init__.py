"""Preferences, as people choose them: links, pages, the ledger of consent."""
