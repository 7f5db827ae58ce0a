"""Correspondence: who wrote to a tenant, who wants no more, and what they are answered."""
