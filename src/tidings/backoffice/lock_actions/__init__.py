"""Lock actions: keys of doors, issued and taken away by the lock service, each audited whatever becomes of it."""
