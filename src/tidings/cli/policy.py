"""`tidings policy`: ladders kept as files, and the server's: put, compare, roll back, rehearse."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.failures import CommandError
from tidings.cli.options import DataDir, Json
from tidings.cli.policy_simulate import simulate
from tidings.cli.printing import print_json

if TYPE_CHECKING:
    from tidings_client import Tidings

app = typer.Typer(
    help="Policies: by which ladder messages of a use case go out.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("simulate")(simulate)

Which = Annotated[
    str, typer.Argument(metavar="POLICY", help="policy_…, or its use case: otp, txn, marketing, …")
]
File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A policy in JSON, or TOML (.toml).", dir_okay=False)
]


@app.command("list")
def list_(
    *,
    deleted: Annotated[bool, typer.Option("--deleted", help="Deleted ones too.")] = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show all policies, one line each."""
    from tidings.cli.policy_words import line_of

    with client(url, key, tenant, data_dir) as tidings:
        found = _all(tidings, deleted=deleted)
    if as_json:
        print_json(found)
        return
    for policy in found:
        print(line_of(policy))
    if not found:
        print("there is no policy; each channel goes out by its vendor, then its fallback vendor")


@app.command("show")
def show(
    which: Which,
    *,
    version: Annotated[int | None, typer.Option("--version", help="As it was then.")] = None,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show one policy with its steps; --json prints what `put` can read."""
    from tidings.cli.policy_words import lines_of
    from tidings_client import policies

    with client(url, key, tenant, data_dir) as tidings:
        found = _found(tidings, which)
        if version is not None:
            found = tidings.call(policies.version(found["id"], version))["policy"]
    print_json(found) if as_json else print("\n".join(lines_of(found)))


@app.command("put")
def put(
    file: File,
    *,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Make the policy of a file's use case say what the file says."""
    from tidings.cli.policy_words import lines_of, read_file
    from tidings_client import policies

    wish = read_file(file)
    with client(url, key, tenant, data_dir) as tidings:
        known = _in_force(tidings, str(wish.get("use_case", "")))
        if known is None:
            done = tidings.call(policies.create(wish))
        else:
            done = tidings.call(policies.put(known["id"], wish, version=known["version"]))
    if as_json:
        print_json(done)
        return
    if known is not None and known["version"] == done["version"]:
        print("nothing differs")
    print("\n".join(lines_of(done)))


@app.command("delete")
def delete(
    which: Which,
    *,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Take a policy out of force; messages under way finish by the ladder that they began with."""
    from tidings_client import policies

    with client(url, key, tenant, data_dir) as tidings:
        known = _found(tidings, which)
        done = tidings.call(policies.delete(known["id"], version=known["version"]))
    print(f"{done['id']} is deleted; `tidings policy restore` works until {done['grace_period_ends_at']}")


@app.command("restore")
def restore(
    which: Which,
    *,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Put a deleted policy in force again."""
    from tidings.cli.policy_words import lines_of
    from tidings_client import policies

    with client(url, key, tenant, data_dir) as tidings:
        known = _found(tidings, which, deleted=True)
        done = tidings.call(policies.restore(known["id"]))
    print("\n".join(lines_of(done)))


@app.command("versions")
def versions(
    which: Which,
    *,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show what a policy was, the newest first."""
    from tidings.cli.policy_words import version_line_of
    from tidings_client import policies

    kept: list[dict[str, Any]] = []
    with client(url, key, tenant, data_dir) as tidings:
        known = _found(tidings, which, deleted=True)
        page = tidings.call(policies.versions(known["id"]))
        kept += page["items"]
        while page.get("next_cursor"):
            page = tidings.call(policies.versions(known["id"], cursor=page["next_cursor"]))
            kept += page["items"]
    if as_json:
        print_json(kept)
        return
    for one in kept:
        print(version_line_of(one))


@app.command("diff")
def diff(
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
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show what differs between two versions, or from a file. The exit code is 1 if anything does, as diff has it."""
    from tidings.cli.policy_words import differences, read_file
    from tidings.cli.printing import print_lines
    from tidings_client import policies

    if file is not None and last is not None:
        raise CommandError("say --file or --to, not both")
    with client(url, key, tenant, data_dir) as tidings:
        known = _found(tidings, which, deleted=True)
        if file is not None:
            after, names = read_file(file), str(file)
            before = tidings.call(policies.version(known["id"], first))["policy"] if first else known
            label = f"v{first or known['version']}"
        else:
            number = last or known["version"]
            start = first or max(number - 1, 1)
            before = tidings.call(policies.version(known["id"], start))["policy"]
            after, names = tidings.call(policies.version(known["id"], number))["policy"], f"v{number}"
            label = f"v{start}"
    lines = list(differences(before, after, names=(label, names)))
    print_lines(lines)
    if lines:
        raise SystemExit(1)
    # Beside the answer: a diff of nothing is empty.
    only = "there is only version 1: nothing to compare it with; name a file with --file"
    print(only if label == names == "v1" else f"nothing differs between {label} and {names}", file=sys.stderr)


@app.command("rollback")
def rollback(
    which: Which,
    version: Annotated[int, typer.Argument(metavar="VERSION", help="What it is to be like again.", min=1)],
    *,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Let a policy say again what an earlier version said; that is a new version."""
    from tidings.cli.policy_words import lines_of
    from tidings_client import policies

    with client(url, key, tenant, data_dir) as tidings:
        known = _found(tidings, which)
        done = tidings.call(policies.roll_back(known["id"], version, version=known["version"]))
    if as_json:
        print_json(done)
        return
    if known["version"] == done["version"]:
        print(f"nothing differs: it says already what v{version} said")
    print("\n".join(lines_of(done)))


def _all(tidings: "Tidings", *, use_case: str | None = None, deleted: bool = False) -> list[dict[str, Any]]:
    from tidings_client import policies

    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = tidings.call(policies.page(use_case=use_case, deleted=deleted, cursor=cursor))
        found += page["items"]
        cursor = page.get("next_cursor")
        if cursor is None:
            return found


def _in_force(tidings: "Tidings", use_case: str) -> dict[str, Any] | None:
    if not use_case:
        raise CommandError("the file must name its use_case: otp, txn, marketing, alert or conversational")
    return next(iter(_all(tidings, use_case=use_case)), None)


def _found(tidings: "Tidings", which: str, *, deleted: bool = False) -> dict[str, Any]:
    """By its id, or the one of a use case: that in force, or else the one that was deleted last."""
    from tidings_client import policies

    if which.startswith("policy_"):
        return tidings.call(policies.show(which))
    found = _all(tidings, use_case=which, deleted=deleted)
    if not found:
        raise CommandError(f"there is no policy for {which}; `tidings policy list` shows those there are")
    in_force = [one for one in found if not one.get("deleted_at")]
    return in_force[0] if in_force else max(found, key=lambda one: str(one["deleted_at"]))
