"""A sealed journal on the local disk: what is known and not recorded yet survives `kill -9`."""
