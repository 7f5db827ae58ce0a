"""Notifications: accepted durably, told apart, found again, explained."""
