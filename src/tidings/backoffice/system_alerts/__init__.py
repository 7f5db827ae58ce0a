"""Alerts that Tidings raises about itself, for its tenants and its platform."""
