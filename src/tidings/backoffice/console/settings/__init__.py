"""The settings of a tenant in the console: languages, quiet hours, limits, links, tracking."""
