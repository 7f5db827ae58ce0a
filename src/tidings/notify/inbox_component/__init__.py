"""The web component of the in-app inbox, and the address that it is loaded from."""
