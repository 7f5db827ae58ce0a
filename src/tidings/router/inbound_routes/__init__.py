"""Where a tenant is told what people write: routes by the number that was written to, and the calls of their webhooks."""
