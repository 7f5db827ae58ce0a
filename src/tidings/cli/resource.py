"""The table of a resource's commands: one for each operation, with a row of the words that differ from it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from tidings.cli.command import Formatter, JsonObject, command_group
from tidings.cli.operation_command import OperationCommand

if TYPE_CHECKING:
    from tidings_client.operations import ApiOperation

#: Resource → verb of the API → what people type for it, or nothing where another command does it.
COMMAND_NAMES: dict[str, dict[str, str]] = {}
#: Finds a thing by what was typed for the path: its id, if it has one, and its version count.
LookUp = Callable[..., JsonObject]


@dataclass(frozen=True, kw_only=True)
class Row:
    """What a command has beyond its operation: the words that people type, and how its answer is printed."""

    #: Its help, where it says more than the document.
    about: str = ""
    #: The lines of the answer, or of one item of it.
    text: Formatter | None = None
    #: What `--help` says of a field, or of a value of the path, where it says more than the document.
    help: Mapping[str, str] = field(default_factory=dict)
    #: What is said where the operation answers nothing, with the path's values for the braces; else that it is done.
    done: str = ""
    #: How many items of a listing are shown at most, unless an option says otherwise; None: all of them.
    lines: int | None = 50
    #: Fields of the body that are typed without an option, in this order.
    arguments: Sequence[str] = ()
    #: Fields that have no option here.
    without: Sequence[str] = ()
    #: What may be typed for a change, for a person who has named none.
    example: str = ""
    #: Makes the body: from the thing as it is now, and from what was typed.
    merge: Callable[[JsonObject, JsonObject], JsonObject] | None = None
    #: Finds what all values of the path name, in the place of the resource's `look_up`.
    look_up: LookUp | None = None
    #: Uploads the file, in the place of one plain request; `more` are options of the command that it takes by name.
    upload: Callable[..., Any] | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    #: Whether an answer is bad news: the exit code is 1 then.
    failed: Callable[[Any], bool] | None = None


_PLAIN = Row()


@dataclass(frozen=True)
class ResourceCommands:
    """The commands of a resource: one for each operation, with the words that they share."""

    #: As the table of operations calls it, such as `status-map`.
    resource: str
    _: KW_ONLY
    #: Verb of the API → what people type for it, such as `set` for `put`; nothing where another command does it.
    names: Mapping[str, str] = field(default_factory=dict)
    #: Verb of the API → what its command has beyond its operation.
    rows: Mapping[str, Row] = field(default_factory=dict)
    #: What the list shows, and what is said where it is empty.
    columns: Sequence[str] = ()
    empty: str = "there is none"
    #: One item of the list on one line; one thing in full.
    line: Formatter | None = None
    lines: Formatter | None = None
    #: Field → option, where it is not called like the field; nothing: it has none.
    options: Mapping[str, str] = field(default_factory=dict)
    #: What `--help` says of a field, or of a value of the path, of all commands that do not say it themselves.
    help: Mapping[str, str] = field(default_factory=dict)
    #: What the first value of the path is, for `--help`.
    which: str = ""
    #: Finds what that value names, where it may be something else than an id.
    look_up: LookUp | None = None

    def add_to(self, app: typer.Typer) -> None:
        """Give an app a command for each operation that it has none for yet."""
        from tidings_client import operations

        taken = {one.name for one in app.registered_commands}
        for operation in operations.table().values():
            if operation.resource == self.resource and not _is_twin(operation):
                name = self.names.get(operation.verb, operation.verb)
                COMMAND_NAMES.setdefault(self.resource, {})[operation.verb] = name
                if name and name not in taken:
                    row = self.rows.get(operation.verb, _PLAIN)
                    OperationCommand(operation, row, self).add_to(app, name)

    def app(self) -> typer.Typer:
        """An app with these commands alone."""
        app = command_group()
        self.add_to(app)
        return app


def _is_twin(operation: "ApiOperation") -> bool:
    from tidings_client import operations

    return operation.path.startswith("/internal/") and any(
        (other.method, other.path) == (operation.method, operation.path.replace("/internal/", "/api/", 1))
        for other in operations.table().values()
    )
