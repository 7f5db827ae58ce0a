"""The tenants we know: a projection of tenant events, and the platform's own way to make such events."""
