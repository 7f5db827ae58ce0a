"""Alerts: what operators have to know of, until it is over."""
