"""Templates: versions of texts by key, channel and locale, published, resolved and checked."""
