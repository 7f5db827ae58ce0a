"""Pages of locks: keys of a reservation, and what was done to them."""
