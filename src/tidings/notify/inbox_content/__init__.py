"""What an item of the in-app inbox says: read from what a template renders, and checked."""
