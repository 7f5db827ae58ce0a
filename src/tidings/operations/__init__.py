"""Commands over the whole of Tidings: migrations, partitions, the embedded server."""
