"""What vendors tell later: taken in at `/hooks/…`, kept as it came, and applied to the attempt that it is about."""
