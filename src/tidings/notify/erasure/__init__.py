"""Erasure: a recipient's key is destroyed, what waits is stopped, and a signed receipt says what was done."""
