"""How operators come in: by password and code, by their invitation, or by a link of the installation."""
