"""How a notification gets there."""
