"""The chassis for durable work: claims, wake-ups, what is in hand, orphan rescue, retries, halving and dead letters."""
