"""What the router has learned about reaching a recipient."""
