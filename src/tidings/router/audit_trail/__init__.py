"""What happened in the router, for those who may ask: its audit as the API shows it."""
