"""What notify says of itself: its queue, and for each tenant bounces, webhooks, keys, approvals."""
