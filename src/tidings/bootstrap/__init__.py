"""Puts one process' Tidings together: the only package that names concrete classes."""

from tidings.bootstrap.system import System

__all__ = ["System"]
