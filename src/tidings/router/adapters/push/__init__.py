"""What push adapters share: all devices of a person as one recipient."""
