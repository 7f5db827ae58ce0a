"""What messages cost, in the console: by day, channel and vendor, and the caps that hold it."""
