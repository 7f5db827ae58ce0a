"""The command of one operation of the API, made from the table that `make client` writes: its options, its call, its answer."""

import inspect
import json
import keyword
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tidings.cli.api_command import PAGE, Api, api_command
from tidings.cli.command import Formatter, JsonObject, Output, without_none
from tidings.cli.failures import CommandError, UsageError
from tidings.cli.options import Lines, day_of, moment_of
from tidings.cli.printing import shown, to_the_second

if TYPE_CHECKING:
    from tidings.cli.resource import ResourceCommands, Row
    from tidings_client.operations import ApiOperation, ApiParameter

#: Options of every command; a field of the same name gets that of its resource before it.
_COMMON = {"url", "key", "tenant", "data_dir", "json", "file", "lines", "if_match", "out"}
_SCALARS = {"boolean": bool, "integer": int, "number": float, "string": str}
#: Types that are made here are nothing for a type checker.
_ANNOTATED: Any = Annotated
_PAGE_QUERY = ("limit", "cursor")
#: Verbs that answer the thing itself.
_ONE = {"show", "create", "put", "change", "restore", "rollback", "revert"}
#: As many columns as fit into a line where none are chosen.
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


class OperationCommand:
    """The command of one operation: its parameters, what it calls, and how the answer is printed."""

    def __init__(self, operation: "ApiOperation", row: "Row", words: "ResourceCommands") -> None:
        self._operation, self._row, self._words = operation, row, words
        self._path = [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]
        self._listed = operation.pages and operation.method == "GET"
        #: Parameter → field of the query or the body.
        self._fields = {
            self._parameter_name(one): one
            for one in (*operation.query, *operation.body)
            if words.options.get(one.name) != ""
            and one.name not in row.without
            and not (self._listed and one.name in _PAGE_QUERY)
        }

    def add_to(self, app: typer.Typer, name: str) -> None:
        """Give an app the command under this name."""
        from tidings_client import operations

        operation = self._operation

        def command(api: Api, **given: Any) -> Any:
            answer = self._run(api, given)
            if self._row.failed is not None and self._row.failed(answer):
                api.exit_code = 1
            return answer

        command.__doc__, command.__name__ = self._row.about or operation.about, operation.id
        command.__signature__ = inspect.Signature([_parameter("api", Api), *self._parameters()])  # type: ignore[attr-defined]
        has_twin = operations.twin(operation.id) not in (None, operation)
        text, empty = self._text(), self._words.empty
        api_command(app, name, text=text, empty=empty, platform=has_twin)(command)

    def _run(self, api: Api, given: Mapping[str, Any]) -> Any:
        operation, row = self._operation, self._row
        # What is the platform's own alone is asked with its key, and so is a field that only the platform may set.
        internal = operation.path.startswith("/internal/") or given.get("platform") is not None
        api.platform_key = api.platform or internal
        place = [given[_argument(one)] for one in self._path]
        known: JsonObject | None = None
        body = self._body(given)
        if row.look_up is not None:
            known = row.look_up(api, *place)
        elif self._words.look_up is not None and place:
            known = self._words.look_up(api, place[0])
        if known is not None:
            place[0] = known.get("id", place[0])
            if operation.verb == "show":
                return known
        query = self._values(given, operation.query)
        if self._listed:
            page = {"limit": PAGE} if row.lines is None else {}
            return api.list_all(operation.id, *place, most=given.get("lines"), **query, **page)
        if operation.answer not in (None, "application/json"):
            return save(api.download(operation.id, *place, query=query), given["out"])
        if row.upload is not None:
            more = {name: given[name] for name in row.more}
            return row.upload(api, operation.id, given["file"], without_none(**query), path=place, **more)
        if operation.files:
            media_type, content = operation.files[0], given["file"].read_bytes()
            return api.call(operation.id, *place, query=query, body=content, media_type=media_type)
        version = given.get("if_match")
        if known is None and (row.merge or (operation.if_match is not None and version is None)):
            known = _as_it_is_now(api, operation, place)
        if operation.if_match is not None and version is None and known:
            version = known["version"] if isinstance(known.get("version"), int) else None
        if row.merge is not None and body is not None:
            body = row.merge(known or {}, body)
        answer = api.call(operation.id, *place, query=query, body=body, if_match=version)
        if operation.answer is None:
            values = [shown(str(one)) for one in place]
            done = row.done.format(*values) if row.done else f"{' '.join(values)}: done".lstrip(": ")
            return Output(answer, done)
        return answer["items"] if set(answer) <= {"items", "next_cursor"} and "items" in answer else answer

    def _values(self, given: Mapping[str, Any], wanted: "Sequence[ApiParameter]") -> JsonObject:
        """What was typed for these fields, as the API takes it."""
        fields = {name: one for name, one in self._fields.items() if one in wanted}
        return {one.name: _value(self._option(name), one, given[name]) for name, one in fields.items()}

    def _body(self, given: Mapping[str, Any]) -> JsonObject | None:
        operation = self._operation
        if not operation.body:
            return None
        body = _read(given["file"]) if given["file"] is not None else {}
        body |= without_none(**self._values(given, operation.body))
        options = {
            one.name: self._option(name) for name, one in self._fields.items() if one in operation.body
        }
        missing = [
            options[one.name]
            for one in operation.body
            if one.required and one.name not in body and one.name in options
        ]
        if missing and self._row.merge is None:
            raise UsageError(
                f"say {', '.join(f'{one} …' for one in missing)}, or name a file with all of it with --file"
            )
        if not body and (operation.method == "PATCH" or (operation.method == "PUT" and self._row.merge)):
            example = (
                f", such as {self._row.example}" if self._row.example else f": {', '.join(options.values())}"
            )
            raise CommandError(f"say what is different{example}")
        return body

    def _parameters(self) -> Iterator[inspect.Parameter]:
        operation = self._operation
        for place, name in enumerate(self._path):
            metavar = name.removesuffix("_id").upper()
            about = self._help(name, self._words.which if place == 0 else "")
            yield _parameter(_argument(name), Annotated[str, typer.Argument(metavar=metavar, help=about)])
        if operation.files:
            about = self._help("file", "The file.")
            upload: Any = typer.Argument(metavar="FILE", help=about, exists=True, dir_okay=False)
            yield _parameter("file", Annotated[Path, upload])
        arguments = [name for name, one in self._fields.items() if one.name in self._row.arguments]
        for name in sorted(arguments, key=lambda one: self._row.arguments.index(self._fields[one].name)):
            one = self._fields[name]
            argument: Any = typer.Argument(metavar=one.name.upper(), help=self._help(one.name, one.about))
            yield _parameter(name, _ANNOTATED[_type(one), argument])
        for name, one in self._fields.items():
            if name not in arguments:
                yield self._option_parameter(name, one)
        if operation.body:
            yield _parameter("file", File, None)
        if operation.if_match is not None:
            yield _parameter("if_match", IfMatch, None)
        for name, annotation in self._row.more.items():
            yield _parameter(name, annotation, False if annotation.__origin__ is bool else None)
        if self._listed and self._row.lines is not None:
            yield _parameter("lines", Lines, self._row.lines)
        if operation.answer not in (None, "application/json"):
            yield _parameter("out", Out, None)

    def _option_parameter(self, name: str, one: "ApiParameter") -> inspect.Parameter:
        flag = self._option(name)
        words = self._words.options.get(one.name) or (
            f"{flag}/--no-{flag.removeprefix('--')}" if one.type == "boolean" else flag
        )
        needed = one.required and one in self._operation.query
        required = one.required and not needed and self._row.merge is None
        about = f"{self._help(one.name, one.about)}{' Required.' if required else ''}".strip()
        metavar = ("NAME=VALUE" if _takes_pairs(one) else "JSON") if one.type == "object" else None
        kind = _type(one) if needed else _type(one) | None
        option: Any = typer.Option(
            words, help=about, show_default=False, metavar=metavar, case_sensitive=False
        )
        return _parameter(name, _ANNOTATED[kind, option], ... if needed else None)

    def _help(self, name: str, said: str) -> str:
        """What `--help` says of a field, or of a value of the path; `said` is what the document says."""
        return self._row.help.get(name) or self._words.help.get(name) or said

    def _parameter_name(self, one: "ApiParameter") -> str:
        name = f"{one.name}_" if keyword.iskeyword(one.name) else one.name
        if (name in _COMMON or name in self._path) and one.name not in self._words.options:
            return f"{self._operation.resource.removesuffix('s').replace('-', '_')}_{name}"
        return f"{name}_" if name in _COMMON or name in self._path else name

    def _option(self, name: str) -> str:
        """What people type for a field."""
        one = self._fields[name]
        if one.name in self._row.arguments:
            return one.name.upper()
        chosen = self._words.options.get(one.name)
        return chosen.partition("/")[0] if chosen else f"--{name.rstrip('_').replace('_', '-')}"

    def _text(self) -> Formatter:
        operation, words = self._operation, self._words
        if self._row.text is not None:
            return self._row.text
        if operation.verb == "list" and words.line is not None:
            return words.line
        if operation.verb in _ONE and words.lines is not None:
            return words.lines
        if operation.pages or (operation.verb == "list" and operation.method == "GET"):
            return lambda one: _row(one, words.columns)
        return _lines


def _argument(name: str) -> str:
    return f"{name}_" if name in _COMMON else name


def _parameter(name: str, kind: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    empty = inspect.Parameter.empty
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=empty if default is ... else default
    )


def _type(one: "ApiParameter") -> Any:
    if one.choices and one.type == "string":
        return Literal[one.choices]
    if _takes_pairs(one) or (one.type == "array" and one.of == "string"):
        return list[str]
    return _SCALARS.get(one.type, str)


def _takes_pairs(one: "ApiParameter") -> bool:
    """Whether an object can be typed as pairs: its values are texts, and nothing else could be meant."""
    return one.type == "object" and one.of == "string"


def _value(option: str, one: "ApiParameter", given: Any) -> Any:
    if isinstance(given, list):
        return (_object(option, given) if one.type == "object" else given) if given else None
    if given is not None and one.format == "date-time":
        return moment_of(given, option)
    if given is not None and one.format == "date":
        return day_of(given, option)
    if given is None or one.type in _SCALARS:
        return given
    try:
        return json.loads(given)
    except ValueError:
        if one.type == "any":
            return given
        raise CommandError(f"{option} must be JSON: {shown(given)}") from None


def _object(option: str, given: Sequence[str]) -> JsonObject:
    """An object that was typed as JSON, or as one `NAME=VALUE` or several."""
    if given[0].lstrip().startswith("{"):
        if len(given) > 1:
            raise CommandError(f"{option} takes one JSON object, or NAME=VALUE several times, and not both")
        try:
            return dict(json.loads(given[0]))
        except ValueError:
            raise CommandError(f"{option} must be JSON: {shown(given[0])}") from None
    pairs = [one.partition("=") for one in given]
    for typed, (name, _, value) in zip(given, pairs, strict=True):
        if not name or not value:
            raise CommandError(
                f"{option} must be NAME=VALUE, several times, or a JSON object, not {shown(typed)!r}"
            )
    return {name.strip(): value.strip() for name, _, value in pairs}


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


def _as_it_is_now(api: Api, operation: "ApiOperation", place: Sequence[Any]) -> JsonObject | None:
    """What is changed, as it is now; None where there is nothing yet."""
    from tidings_client import operations

    shown_at = {one.path: one.id for one in operations.table().values() if one.method == "GET"}
    parts = operation.path.split("/")
    while parts:
        path = "/".join(parts)
        if path in shown_at:
            return api.find(shown_at[path], *place[: path.count("{")])
        parts.pop()
    return None


def save(pieces: Iterator[bytes], out: Path | None) -> Output | None:
    """Write what the API answered to a file, or as it is to standard output where none is named."""
    if out is None:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        return None
    with out.open("wb") as file:
        size = sum(file.write(piece) for piece in pieces)
    return Output({"file": str(out), "bytes": size}, f"written to {out}")


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
