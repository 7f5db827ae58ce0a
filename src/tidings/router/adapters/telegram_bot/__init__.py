"""Telegram, through a bot."""
