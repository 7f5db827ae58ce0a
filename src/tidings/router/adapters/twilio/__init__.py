"""Twilio: SMS, WhatsApp and voice."""
