"""Commands of a resource, made from the table of operations that `make client` writes: list, show, create, change, delete and its own verbs."""

import inspect
import json
import keyword
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tidings.cli.api_command import Api, JsonObject, Output, api_command
from tidings.cli.failures import CommandError
from tidings.cli.options import Lines
from tidings.cli.printing import shown, to_the_second

if TYPE_CHECKING:
    from tidings_client.operations import ApiOperation, ApiParameter

#: Options of every command; a field of the same name gets that of its resource before it.
_COMMON = {"url", "key", "tenant", "data_dir", "json", "platform", "file", "lines", "if_match", "out"}
_SCALARS = {"boolean": bool, "integer": int, "number": float, "string": str}
#: Resource → verb of the API → what people type for it, or nothing where another command does it.
COMMAND_NAMES: dict[str, dict[str, str]] = {}
#: Types that are made here are nothing for a type checker.
_ANNOTATED: Any = Annotated
_PAGE_QUERY = ("limit", "cursor")
#: As many columns as fit into a line where nobody has said which.
_MOST_COLUMNS = 6

File = Annotated[
    Path | None,
    typer.Option("--file", help="A JSON file with the body, - for standard input; options come on top."),
]
IfMatch = Annotated[
    int | None,
    typer.Option(
        "--if-match", metavar="VERSION", help="Change it from this version only. [default: as it is now]"
    ),
]
Out = Annotated[Path | None, typer.Option("--out", help="Write it to this file. [default: print it]")]
Upload = Annotated[Path, typer.Argument(metavar="FILE", help="The file.", exists=True, dir_okay=False)]


def add_resource(
    app: typer.Typer,
    resource: str,
    *,
    names: Mapping[str, str] | None = None,
    columns: Sequence[str] = (),
    empty: str = "there is none",
) -> None:
    """Give an app a command for each operation of a resource that it has none for yet.

    `names` says what people type for a verb of the API, such as `set` for `put`, or nothing where another command does it;
    `columns` what a list shows.
    """
    from tidings_client import operations

    taken = {one.name for one in app.registered_commands}
    for operation in operations.table().values():
        if operation.resource == resource and not _is_twin(operation):
            name = (names or {}).get(operation.verb, operation.verb)
            COMMAND_NAMES.setdefault(resource, {})[operation.verb] = name
            if name and name not in taken:
                _add(app, name, operation, columns, empty)


def resource_app(resource: str, help_: str, **more: Any) -> typer.Typer:
    """An app with a command for every operation of a resource."""
    app = typer.Typer(help=help_, no_args_is_help=True, rich_markup_mode=None)
    # With one command alone it would be the app itself.
    app.callback()(lambda: None)
    app.info.help = help_
    add_resource(app, resource, **more)
    return app


def _is_twin(operation: "ApiOperation") -> bool:
    from tidings_client import operations

    return operation.path.startswith("/internal/") and any(
        (other.method, other.path) == (operation.method, operation.path.replace("/internal/", "/api/", 1))
        for other in operations.table().values()
    )


def _add(app: typer.Typer, name: str, operation: "ApiOperation", columns: Sequence[str], empty: str) -> None:
    from tidings_client import operations

    path = [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]
    fields = {_option_name(one, operation, path): one for one in (*operation.query, *operation.body)}
    listed = operation.pages and operation.method == "GET"
    if listed:
        fields = {option: one for option, one in fields.items() if one.name not in _PAGE_QUERY}

    def command(api: Api, **given: Any) -> Any:
        # What is the platform's own alone is asked with its key.
        api.platform_key = api.platform or operation.path.startswith("/internal/")
        place = [given[_argument(one)] for one in path]
        query = {
            one.name: _value(option, one, given[option])
            for option, one in fields.items()
            if one in operation.query
        }
        if listed:
            return api.list_all(operation.id, *place, most=given["lines"], **query)
        if operation.answer not in (None, "application/json"):
            return _kept(api.download(operation.id, *place, query=query), given["out"])
        if operation.files:
            media_type, content = operation.files[0], given["file"].read_bytes()
            return api.call(operation.id, *place, query=query, body=content, media_type=media_type)
        body = _body(operation, fields, given)
        version = given.get("if_match")
        if operation.if_match is not None and version is None:
            version = _version_now(api, operation, place)
        answer = api.call(operation.id, *place, query=query, body=body, if_match=version)
        if operation.answer is None:
            return Output(answer, f"{shown(' '.join(map(str, place)))}: done".lstrip(": "))
        return answer["items"] if set(answer) <= {"items", "next_cursor"} and "items" in answer else answer

    command.__doc__, command.__name__ = operation.about, operation.id
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [_parameter("api", Api), *_parameters(operation, path, fields, listed=listed)]
    )
    text: Callable[[Any], Iterable[str] | str] = _lines
    if _gives_list(operation):
        text = lambda one: _row(one, columns)  # noqa: E731  # one of two ways to show an answer
    has_twin = operations.twin(operation.id) not in (None, operation)
    api_command(app, name, text=text, empty=empty, platform=has_twin)(command)


def _parameters(
    operation: "ApiOperation", path: Sequence[str], fields: "Mapping[str, ApiParameter]", *, listed: bool
) -> Iterator[inspect.Parameter]:
    for name in path:
        metavar = name.removesuffix("_id").upper()
        yield _parameter(_argument(name), Annotated[str, typer.Argument(metavar=metavar)])
    if operation.files:
        yield _parameter("file", Upload)
    for option, one in fields.items():
        flag = _flag(option)
        words = f"--{flag}/--no-{flag}" if one.type == "boolean" else f"--{flag}"
        needed = one.required and one in operation.query
        about = f"{one.about}{' Required.' if one.required and not needed else ''}".strip()
        kind = _type(one) if needed else _type(one) | None
        option_: Any = typer.Option(words, help=about, show_default=False)
        yield _parameter(option, _ANNOTATED[kind, option_], ... if needed else None)
    if operation.body:
        yield _parameter("file", File, None)
    if operation.if_match is not None:
        yield _parameter("if_match", IfMatch, None)
    if listed:
        yield _parameter("lines", Lines, 50)
    if operation.answer not in (None, "application/json"):
        yield _parameter("out", Out, None)


def _argument(name: str) -> str:
    return f"{name}_" if name in _COMMON else name


def _parameter(name: str, kind: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    empty = inspect.Parameter.empty
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=empty if default is ... else default
    )


def _option_name(one: "ApiParameter", operation: "ApiOperation", path: Sequence[str]) -> str:
    name = f"{one.name}_" if keyword.iskeyword(one.name) else one.name
    return (
        f"{operation.resource.removesuffix('s').replace('-', '_')}_{name}"
        if name in _COMMON or name in path
        else name
    )


def _flag(option: str) -> str:
    return option.rstrip("_").replace("_", "-")


def _type(one: "ApiParameter") -> Any:
    if one.choices and one.type == "string":
        return Literal[one.choices]
    if one.type == "array" and one.of == "string":
        return list[str]
    return _SCALARS.get(one.type, str)


def _value(option: str, one: "ApiParameter", given: Any) -> Any:
    if given is None or one.type in _SCALARS or isinstance(given, list):
        return given or None if isinstance(given, list) else given
    try:
        return json.loads(given)
    except ValueError:
        if one.type == "any":
            return given
        raise CommandError(f"--{_flag(option)} must be JSON: {shown(given)}") from None


def _body(
    operation: "ApiOperation", fields: "Mapping[str, ApiParameter]", given: Mapping[str, Any]
) -> JsonObject | None:
    if not operation.body:
        return None
    body = _read(given["file"]) if given["file"] is not None else {}
    named = {option: one for option, one in fields.items() if one in operation.body}
    said = {one.name: _value(option, one, given[option]) for option, one in named.items()}
    body |= {name: value for name, value in said.items() if value is not None}
    missing = [_flag(option) for option, one in named.items() if one.required and one.name not in body]
    if missing:
        raise CommandError(
            f"say {', '.join(f'--{one} …' for one in missing)}, or name a file with all of it with --file"
        )
    return body


def _read(file: Path) -> JsonObject:
    try:
        found = json.loads(sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(f"{file} can't be read: {error.strerror}") from None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise CommandError(f"{file} must hold one JSON object")
    return found


def _version_now(api: Api, operation: "ApiOperation", place: Sequence[Any]) -> int | None:
    """The version of what is changed, as it is now; None where there is nothing yet."""
    from tidings_client import operations

    parts = operation.path.split("/")
    while parts:
        path = "/".join(parts)
        for one in operations.table().values():
            if (one.method, one.path) == ("GET", path):
                found = api.find(one.id, *place[: path.count("{")])
                version = found.get("version") if found else None
                return version if isinstance(version, int) else None
        parts.pop()
    return None


def _kept(pieces: Iterator[bytes], out: Path | None) -> Output | None:
    if out is None:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        return None
    with out.open("wb") as file:
        size = sum(file.write(piece) for piece in pieces)
    return Output({"file": str(out), "bytes": size}, f"written to {out}")


def _gives_list(operation: "ApiOperation") -> bool:
    return operation.pages or (operation.verb == "list" and operation.method == "GET")


def _row(one: JsonObject, columns: Sequence[str]) -> str:
    plain = [name for name, value in one.items() if isinstance(value, str | int | float)][:_MOST_COLUMNS]
    return shown("  ".join(_cell(one.get(name)) for name in columns or plain)).rstrip()


def _lines(one: JsonObject) -> Iterator[str]:
    for name, value in one.items():
        if value not in (None, [], {}):
            yield shown(f"{name}  {_cell(value)}")


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return to_the_second(value)
    return "" if value is None else json.dumps(value, ensure_ascii=False)
