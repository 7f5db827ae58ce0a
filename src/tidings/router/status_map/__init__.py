"""What vendors' codes mean: lines for everybody and of single tenants, and codes that have no line yet."""
