"""OpenID Connect: operators prove themselves to the identity provider of their house."""
