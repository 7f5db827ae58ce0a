"""Vonage: SMS over the Messages API."""
