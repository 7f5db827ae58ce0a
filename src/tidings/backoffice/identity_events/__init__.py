"""What other systems say of people and tenants, as far as it concerns operators."""
