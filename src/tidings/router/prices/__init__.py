"""What messages cost: price models of accounts, estimates for a message, currencies."""
