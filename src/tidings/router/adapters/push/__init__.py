"""What push adapters share: devices, codes, signing keys."""
