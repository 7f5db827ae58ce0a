"""What several tests share: a Postgres, a clock, tenants."""
