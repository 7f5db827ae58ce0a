"""`tidings secret`: settings and credentials of vendor accounts, entered instead of put on the server's disk."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import JsonObject, Output, command_group
from tidings.cli.failures import CommandError
from tidings.cli.resource import ResourceCommands, Row

app = command_group()


def _line(one: JsonObject) -> str:
    readers = ", ".join(one["used_by"]) or "no account"
    return f"{one['ref']}  version {one['version']}, {one['updated_at'][:19]}Z, read by {readers}"


@api_command(app, "set", platform=True)
def set_(
    api: Api,
    name: Annotated[str, typer.Argument(help="Accounts read it as sealed://NAME.")],
    *,
    file: Annotated[
        Path | None, typer.Option(help="Read it from there; default: standard input, or a question.")
    ] = None,
) -> Output:
    """Enter a secret, or another in its place: the JSON object of an account's settings, or one text such as a password."""
    done = api.call("put_secret", name, body={"value": _value(file)})
    readers = f"; {', '.join(done['used_by'])} reads it from now on" if done["used_by"] else ""
    return Output(done, f"{done['ref']}  version {done['version']}{readers}")


def _value(file: Path | None) -> str | dict[str, Any]:
    """Never an argument: those are in the shell's history and in the list of processes."""
    import json

    if file is not None:
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{file} can't be read as text") from error
    elif sys.stdin.isatty():
        text = typer.prompt("Secret", hide_input=True, confirmation_prompt=True)
    else:
        text = sys.stdin.read()
    text = text.removesuffix("\n").removesuffix("\r")
    if text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except ValueError as error:
            raise CommandError("what begins with { must be one JSON object of settings") from error
        if isinstance(found, dict):
            return found
    return text


ResourceCommands(
    "secrets",
    names={"put": "set", "delete": "remove"},
    line=_line,
    empty="no secret was entered; `tidings secret set NAME` enters one",
    which="Accounts read it as sealed://NAME.",
    rows={"delete": Row(done="sealed://{} is removed, and its key is destroyed")},
).add_to(app)
