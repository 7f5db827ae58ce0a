"""The area of the platform's health: processes, what waits, what is wrong."""
