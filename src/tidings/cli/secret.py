"""`tidings secret`: settings and credentials of vendor accounts, entered instead of put on the server's disk."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.circuit import Platform
from tidings.cli.failures import CommandError
from tidings.cli.options import DataDir, Json
from tidings.cli.printing import print_json, shown

app = typer.Typer(
    help="Secrets of vendor accounts, entered over the API: sealed, and shown to nobody again.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Accounts read it as sealed://NAME.")]


@app.command("list")
def list_(
    *,
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show which secrets there are, since when, and which accounts read them."""
    from tidings_client.secrets import secrets

    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        found = tidings.call(secrets(platform=platform))["items"]
    if as_json:
        print_json(found)
        return
    for one in found:
        readers = ", ".join(one["used_by"]) or "nobody"
        print(f"{one['ref']}  version {one['version']}, {one['updated_at'][:19]}Z, read by {readers}")
    if not found:
        print("no secret was entered; `tidings secret set NAME` enters one")


@app.command("set")
def set_(
    name: Name,
    *,
    file: Annotated[
        Path | None, typer.Option(help="Read it from there; default: standard input, or a question.")
    ] = None,
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Enter a secret, or another in its place: the JSON object of an account's settings, or one text such as a password."""
    from tidings_client.secrets import put_secret

    value = _value(file)
    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        done = tidings.call(put_secret(name, value, platform=platform))
    if as_json:
        print_json(done)
        return
    readers = f"; {', '.join(done['used_by'])} reads it from now on" if done["used_by"] else ""
    print(f"{done['ref']}  version {done['version']}{readers}")


@app.command("remove")
def remove(
    name: Name,
    *,
    platform: Platform = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Remove a secret that nobody reads any more; it can't be brought back."""
    from tidings_client.secrets import delete_secret

    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        tidings.call(delete_secret(name, platform=platform))
    print(f"sealed://{shown(name)} is removed, and its key is destroyed")


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
