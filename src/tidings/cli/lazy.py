"""Commands that are imported when they run: `--help` reads their lines from a table, and imports none of them."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, cast

import typer
from typer.core import TyperCommand, TyperGroup


class LazyCommand(NamedTuple):
    """Where a command lives."""

    #: The module of `tidings.cli`.
    module: str
    #: Its line in `--help`: the first sentence of its own help.
    help: str
    #: The function, or another app than the module's `app` with its own commands.
    function: str = "app"
    #: Works, and is not listed.
    hidden: bool = False


class LazyCommands(Mapping[str, Any]):
    """The commands by name, each imported when it is asked for."""

    def __init__(self, table: Mapping[str, LazyCommand]) -> None:
        self._table = table

    def __getitem__(self, name: str) -> Any:
        return _load(name, self._table[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


@cache
def _load(name: str, chosen: LazyCommand) -> Any:
    module = import_module(f"tidings.cli.{chosen.module}")
    found: typer.Typer | Callable[..., object] = getattr(module, chosen.function)
    if isinstance(found, typer.Typer):
        # As a part of `tidings`, which alone would offer to complete commands in a shell.
        command: Any = typer.main.get_group(found)
    else:
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        app.command(name)(found)
        command = typer.main.get_command(app)
    command.name = name
    return command


def lazy_group(table: Mapping[str, LazyCommand]) -> type[TyperGroup]:
    """The class of a group with the commands of `table`."""

    class LazyGroup(TyperGroup):
        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes)
            self.commands = cast("MutableMapping[str, Any]", LazyCommands(table))

        def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  # as Typer calls it
            shown = {name: command for name, command in table.items() if not command.hidden}
            limit = formatter.width - 6 - max(map(len, shown))
            with formatter.section("Commands"):
                formatter.write_dl(
                    [
                        (name, TyperCommand(name, help=command.help).get_short_help_str(limit))
                        for name, command in shown.items()
                    ]
                )

    return LazyGroup
