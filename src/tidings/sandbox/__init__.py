"""A stand-in for vendors: takes what is sent, shows it, and fails when told to."""

from tidings.sandbox.sandbox import Sandbox

__all__ = ["Sandbox"]
