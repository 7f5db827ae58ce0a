"""`tidings policy`: ladders kept as files, and the server's: put, compare, roll back, simulate."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import JsonObject, Output, command_group
from tidings.cli.failures import CommandError
from tidings.cli.policy_format import differences, line_of, lines_of, read_file, version_line_of
from tidings.cli.policy_simulate import simulate
from tidings.cli.resource import ResourceCommands, Row

app = command_group()
app.command("simulate")(simulate)

Which = Annotated[
    str, typer.Argument(metavar="POLICY", help="policy_…, or its use case: otp, txn, marketing, …")
]
File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A policy in JSON, or TOML (.toml).", dir_okay=False)
]


@api_command(app, "show", text=lines_of)
def show(
    api: Api, which: Which, *, version: Annotated[int | None, typer.Option(help="As it was then.")] = None
) -> JsonObject:
    """Show one policy with its steps; --json prints what `put` can read."""
    found = _found(api, which)
    return found if version is None else _version(api, found, version)


@api_command(app, "put")
def put(api: Api, file: File) -> Output:
    """Make the policy of a file's use case say what the file says."""
    wish = read_file(file)
    use_case = str(wish.get("use_case", ""))
    if not use_case:
        raise CommandError("the file must name its use_case: otp, txn, marketing, alert or conversational")
    known = next(iter(api.list_all("list_policies", use_case=use_case)), None)
    if known is None:
        done = api.call("create_policy", body=wish)
        return Output(done, lines_of(done))
    done = api.call("put_policy", known["id"], body=wish, if_match=known["version"])
    same = ["nothing differs"] if known["version"] == done["version"] else []
    return Output(done, [*same, *lines_of(done)])


@api_command(app, "diff")
def diff(
    api: Api,
    which: Which,
    *,
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", help="Compare with a file: what `put` would change.", dir_okay=False),
    ] = None,
    first: Annotated[
        int | None, typer.Option("--from", help="A version. [default: the one before --to]")
    ] = None,
    last: Annotated[int | None, typer.Option("--to", help="A version. [default: the newest]")] = None,
) -> Output:
    """Show what differs between two versions, or from a file. The exit code is 1 if anything does, as diff has it."""
    if file is not None and last is not None:
        raise CommandError("say --file or --to, not both")
    known = _found(api, which, deleted=True)
    if file is not None:
        after, names = read_file(file), str(file)
        before = _version(api, known, first) if first else known
        label = f"v{first or known['version']}"
    else:
        number = last or known["version"]
        start = first or max(number - 1, 1)
        before, after = _version(api, known, start), _version(api, known, number)
        names, label = f"v{number}", f"v{start}"
    lines = list(differences(before, after, names=(label, names)))
    api.exit_code = int(bool(lines))
    if not lines:
        # Beside the answer: a diff of nothing is empty.
        only = "there is only version 1: nothing to compare it with; name a file with --file"
        same = only if label == names == "v1" else f"nothing differs between {label} and {names}"
        print(same, file=sys.stderr)
    return Output([line.plain for line in lines], lines)


@api_command(app, "rollback")
def rollback(
    api: Api,
    which: Which,
    version: Annotated[int, typer.Argument(help="What it is to be like again.", min=1)],
) -> Output:
    """Let a policy say again what an earlier version said; that is a new version."""
    known = _found(api, which)
    done = api.call("roll_back_policy", known["id"], body={"version": version}, if_match=known["version"])
    same = known["version"] == done["version"]
    note = [f"nothing differs: it says already what v{version} said"] if same else []
    return Output(done, [*note, *lines_of(done)])


def _version(api: Api, known: JsonObject, version: int) -> JsonObject:
    policy: JsonObject = api.call("show_policy_version", known["id"], version)["policy"]
    return policy


def _found(api: Api, which: str, *, deleted: bool = False) -> JsonObject:
    """By its id, or the one of a use case: that in force, or else the one that was deleted last."""
    if which.startswith("policy_"):
        return api.call("show_policy", which)
    found = api.list_all("list_policies", use_case=which, deleted=deleted or None)
    if not found:
        raise CommandError(f"there is no policy for {which}; `tidings policy list` shows those there are")
    in_force = [one for one in found if not one.get("deleted_at")]
    return in_force[0] if in_force else max(found, key=lambda one: str(one["deleted_at"]))


def _even_deleted(api: Api, which: str) -> JsonObject:
    return _found(api, which, deleted=True)


def _deleted(done: JsonObject) -> str:
    return f"{done['id']} is deleted; `tidings policy restore` works until {done['grace_period_ends_at']}"


ResourceCommands(
    "policies",
    names={"create": "put"},
    which="policy_…, or its use case: otp, txn, marketing, …",
    line=line_of,
    lines=lines_of,
    look_up=_found,
    empty="there is no policy; each channel goes out by its vendor, then its fallback vendor",
    rows={
        "list": Row(lines=None),
        "delete": Row(text=_deleted),
        "restore": Row(look_up=_even_deleted),
        "versions": Row(look_up=_even_deleted, text=version_line_of, lines=None),
    },
).add_to(app)
