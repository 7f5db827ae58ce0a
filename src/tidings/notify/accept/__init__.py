"""Accept: from an order to a durable notification."""
