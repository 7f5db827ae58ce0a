"""SMPP 3.4: SMS through any SMSC."""
