"""What happened, for those who may ask: the audit as the API shows it."""
