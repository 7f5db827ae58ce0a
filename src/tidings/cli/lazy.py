"""Commands that are imported when they run: `--help` reads their lines from a table, and imports none of them."""

from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping
from functools import cache
from importlib import import_module
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup


class LazyCommands(Mapping[str, Any]):
    """The commands by name, each imported when it is asked for."""

    def __init__(self, helps: Mapping[str, str], modules: Mapping[str, str]) -> None:
        self._helps, self._modules = helps, modules

    def __getitem__(self, name: str) -> Any:
        word = name.replace("-", "_")
        return _load(name, self._modules.get(name, word), self._helps[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._helps)

    def __len__(self) -> int:
        return len(self._helps)


@cache
def _load(name: str, module_name: str, help_: str) -> Any:
    """The command: the module's `app`, or else its function or app of the same name."""
    module = import_module(f"tidings.cli.{module_name}")
    found: typer.Typer | Callable[..., object] = getattr(module, "app", None) or getattr(
        module, name.replace("-", "_")
    )
    if isinstance(found, typer.Typer):
        # As a part of `tidings`, which alone would offer to complete commands in a shell.
        command: Any = typer.main.get_group(found)
        command.help = help_
    else:
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        app.command(name)(found)
        command = typer.main.get_command(app)
    command.name = name
    return command


def lazy_group(
    helps: Mapping[str, str], modules: Mapping[str, str], hidden: Collection[str]
) -> type[TyperGroup]:
    """The class of a group of commands: their lines in `--help`, modules that are not called like them, hidden ones."""

    class LazyGroup(TyperGroup):
        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes)
            self.commands = cast("MutableMapping[str, Any]", LazyCommands(helps, modules))

        def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  # as Typer calls it
            shown = {name: line for name, line in helps.items() if name not in hidden}
            limit = formatter.width - 6 - max(map(len, shown))
            with formatter.section("Commands"):
                formatter.write_dl(
                    [
                        (name, TyperCommand(name, help=line).get_short_help_str(limit))
                        for name, line in shown.items()
                    ]
                )

    return LazyGroup
