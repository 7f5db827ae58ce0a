"""The HTTP base: problems, callers, bodies, paging, health and the app factory; it knows no resource."""
