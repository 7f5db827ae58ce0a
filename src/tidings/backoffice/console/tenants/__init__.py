"""What the people of the platform look after in the console: tenants, suppressions for all, callbacks that found nothing."""
