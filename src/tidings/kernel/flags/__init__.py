"""Switches for cut-overs, by tenant and by share."""
