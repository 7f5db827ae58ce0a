"""Conditions that people write: `tag = 'vip' and data.nights >= 2`. Parsed with places, bounded, without functions."""

from tidings.kernel.expressions.errors import ExpressionError
from tidings.kernel.expressions.expression import Expression, parse

__all__ = ["Expression", "ExpressionError", "parse"]
