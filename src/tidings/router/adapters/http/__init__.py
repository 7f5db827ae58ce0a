"""Any vendor that takes JSON over HTTP, described by settings."""
