"""What messages cost a tenant, by day: estimated before, real after, summed where it happens."""
