"""Events that other systems send: read, kept once, and announced on the bus."""
