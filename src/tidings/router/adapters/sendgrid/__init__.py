"""SendGrid."""
