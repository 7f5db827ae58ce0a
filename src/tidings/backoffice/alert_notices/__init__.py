"""Operators are told of alerts by notifications, once for each outage, if they want to be."""
