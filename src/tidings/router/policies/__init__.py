"""Policies: by which ladder a tenant's messages of a use case go out."""
