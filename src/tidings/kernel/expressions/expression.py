"""A condition that was read: it can be asked, printed, and pointed into."""

from collections.abc import Callable, Mapping
from typing import Any

from tidings.kernel.expressions.errors import ExpressionError
from tidings.kernel.expressions.evaluate import holds
from tidings.kernel.expressions.parser import parse_tree
from tidings.kernel.expressions.tree import FieldPath, Node, tests_of


class Expression:
    """A condition, read once and asked often."""

    __slots__ = ("root", "text")

    def __init__(self, text: str, root: Node) -> None:
        #: As it was written.
        self.text = text
        #: As a tree, for those who translate it.
        self.root = root

    def matches(self, scope: Mapping[str, Any]) -> bool:
        """Whether it holds for nested dicts and lists: `{"data": {"nights": 2}}`."""
        return holds(self.root, scope)

    def fields(self) -> set[str]:
        """The paths that it names: `data.nights`."""
        return {str(test.field) for test in tests_of(self.root)}

    def refuse_unknown(self, known: Callable[[FieldPath], bool], remedy: str) -> None:
        """Raises at the first field that is not known; the remedy says which ones are."""
        for test in tests_of(self.root):
            if not known(test.field):
                raise self.error_at(test.field.position, f"there is no field {test.field} here: {remedy}")

    def error_at(self, position: int, remedy: str) -> ExpressionError:
        """An error that points at a place of the text."""
        return ExpressionError(self.text, position=position, remedy=remedy)

    def __str__(self) -> str:
        """In its plainest form: parsed again it is the same."""
        return str(self.root)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.root == other.root

    def __hash__(self) -> int:
        return hash(self.root)


def parse(text: str) -> Expression:
    """Reads a condition; an ExpressionError says what was expected, and shows where."""
    return Expression(text, parse_tree(text))
