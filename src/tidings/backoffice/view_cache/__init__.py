"""The cache tier of views: in each process, and in a Redis or Valkey of its own, which may forget and may be away at any time."""
