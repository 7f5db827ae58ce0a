"""Pages on how a tenant looks: branding with a preview of what is typed, and layouts."""
