"""Viber, through a bot."""
