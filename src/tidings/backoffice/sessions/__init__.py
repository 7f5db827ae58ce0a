"""Sessions of operators: each is bound to a device, and ends everywhere within a second."""
