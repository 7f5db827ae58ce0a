"""What vendors' codes mean: lines for all tenants and of single ones, and codes that have no line yet."""
