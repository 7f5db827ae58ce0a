"""Bounces by mail: the return path of each message, and what mail servers send back to it."""
