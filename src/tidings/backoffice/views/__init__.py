"""Dashboards and boards of a property: composed of what upstream services answer, and marked where one does not."""
