"""What all commands have in common: groups of them, options that are declared once, and how an answer is printed."""

import copy
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer

from tidings.cli.printing import json_text, print_lines

if TYPE_CHECKING:
    from rich.text import Text

#: A JSON object: an answer of the API, as it came.
JsonObject = dict[str, Any]
#: Types that are made here are nothing for a type checker.
_ANNOTATED: Any = Annotated
#: Makes the lines that a person reads of one answer, or of one item of a list.
Formatter = Callable[[Any], "Iterable[str | Text] | str"]


# No repr: an answer may hold a key that is shown this once.
@dataclass(frozen=True, repr=False)
class Output:
    """An answer, with the lines that a person is shown where they follow from more than the answer."""

    answer: Any
    lines: "str | Iterable[str | Text]"
    #: Other than 0 where the command did its work and the answer is still bad news: it is printed first.
    exit_code: int = 0


def command_group() -> typer.Typer:
    """An app for the commands of one group; its line in `--help` stands in the table of `tidings.cli.main`."""
    app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    # A group with one command alone would be that command.
    app.callback()(lambda: None)
    return app


def add_command(
    app: typer.Typer | None,
    name: str,
    function: Callable[..., Any],
    run: Callable[..., None],
    common: Mapping[str, Any],
) -> Callable[..., None]:
    """Make a command of `run`: it has the options of `function` behind its first parameter, then the `common` ones.

    `common` maps a parameter to its annotation; the default of a switch is False, of any other option None.
    """
    own = list(inspect.signature(function).parameters.values())[1:]
    parameters = [_with_metavar(one) for one in own if one.name not in common]
    parameters += [
        inspect.Parameter(
            one,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if annotation.__origin__ is bool else None,
            annotation=annotation,
        )
        for one, annotation in common.items()
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    run.__name__, run.__doc__ = function.__name__, function.__doc__
    if app is not None:
        app.command(name)(run)
    return run


def _with_metavar(parameter: inspect.Parameter) -> inspect.Parameter:
    """The parameter; an argument without a metavar gets its name in capitals, for usage and errors."""
    if get_origin(parameter.annotation) is not Annotated:
        return parameter
    kind, said, *_ = get_args(parameter.annotation)
    if not isinstance(said, typer.models.ArgumentInfo) or said.metavar is not None:
        return parameter
    argument = copy.copy(said)
    takes_several = any(get_origin(one) is list for one in (kind, *get_args(kind)))
    argument.metavar = f"{parameter.name.upper()}{'…' if takes_several else ''}"
    return parameter.replace(annotation=_ANNOTATED[kind, argument])


def print_answer(answer: Any, text: Formatter | None = None, empty: str = "", *, as_json: bool) -> None:
    """Print an answer: as it came with `--json`, else in lines; nothing where it is None."""
    lines = answer.lines if isinstance(answer, Output) else None
    answer = answer.answer if isinstance(answer, Output) else answer
    if as_json and answer is not None:
        print(json_text(answer))
    elif lines is not None:
        _print(lines)
    elif isinstance(answer, list) and not answer:
        print(empty)
    elif text is not None and answer is not None:
        for one in answer if isinstance(answer, list) else [answer]:
            _print(text(one))


def without_none(**fields: Any) -> JsonObject:
    """Keep the fields that have a value: an option that was left out is None."""
    return {name: value for name, value in fields.items() if value is not None}


def _print(lines: "str | Iterable[str | Text]") -> None:
    several = [lines] if isinstance(lines, str) else list(lines)
    if all(isinstance(line, str) for line in several):
        print("\n".join(map(str, several)) if several else "", end="\n" if several else "")
        return
    from rich.text import Text

    print_lines(Text(line) if isinstance(line, str) else line for line in several)
