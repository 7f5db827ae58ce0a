"""Tests of bounces by mail."""
