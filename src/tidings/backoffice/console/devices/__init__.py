"""Pages of operators' devices."""
