"""Subjects on which other systems publish events, and how their messages become events of tenants."""
