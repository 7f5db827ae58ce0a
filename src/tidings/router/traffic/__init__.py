"""Who gets the traffic: circuits, weights of vendors, limits of accounts."""
