"""What the router says of itself: circuits that are not closed, receipts that wait, what was given up on."""
