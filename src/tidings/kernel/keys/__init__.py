"""Keys of the installation, of a tenant and of a person, and what is sealed with them."""
