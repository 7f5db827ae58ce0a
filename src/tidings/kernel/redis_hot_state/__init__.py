"""Limits in Redis or Valkey: one script, one round trip for each call, however many keys.

Importing this needs the extra `redis`. In production it stands behind `kernel.hot_state_takeover`, which goes on
without it and keeps in Postgres what must survive it.
"""
