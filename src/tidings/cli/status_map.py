"""`tidings status-map`: what vendors' codes mean, and codes that mean nothing yet."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.circuit import Platform
from tidings.cli.failures import CommandError
from tidings.cli.options import DataDir, Json
from tidings.cli.printing import counted, print_json, shown, to_the_second
from tidings.contracts.failures import why

if TYPE_CHECKING:
    from tidings_client import Tidings

app = typer.Typer(
    help="The status map: what vendors' codes mean, and codes that mean nothing yet.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Adapter = Annotated[str, typer.Argument(metavar="ADAPTER", help="twilio, or a vendor's own name: http_acme.")]
Code = Annotated[str, typer.Argument(metavar="CODE", help="The vendor's code, or its word.")]
OnlyAdapter = Annotated[str | None, typer.Option("--adapter", help="Of this adapter or vendor alone.")]


@app.command("list")
def list_(
    *,
    adapter: OnlyAdapter = None,
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show what codes mean, one line each; * marks lines of your own."""
    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        found = list(_all(tidings, adapter, platform=platform))
    if as_json:
        print_json(found)
        return
    for code in found:
        print(_line(code))
    if not found:
        print("there is no line")


@app.command("unknown")
def unknown(
    *,
    adapter: OnlyAdapter = None,
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show codes and words of vendors that had no meaning, and how often they came."""
    from tidings_client import status_map

    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        found = tidings.call(status_map.unknown(adapter=adapter, platform=platform))["items"]
    if as_json:
        print_json(found)
        return
    for one in found:
        means = one["means"]
        now = f"means {means['canonical']} by now" if means else "means nothing yet"
        last = to_the_second(one["last_seen"])
        print(f"{one['vendor']:<20}  {shown(one['code']):<24}  {one['count']:>8}  last {last}  {now}")
    if not found:
        print("all that vendors said has a meaning")
    elif new := next((one for one in found if not one["means"]), None):
        which = shown(f"{new['vendor']} {new['code']}")
        print(f"\n`tidings status-map set {which} --means … --reason …` gives it a meaning,")
        print(f"`tidings status-map reapply {which}` applies what was kept")


@app.command("show")
def show(
    adapter: Adapter,
    code: Code,
    *,
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show what a code means, and what your line said before."""
    from tidings_client import NotFoundError, status_map

    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        try:
            found = tidings.call(status_map.show(adapter, code, platform=platform))
        except NotFoundError as error:
            which = f"{shown(adapter)} {shown(code)}"
            words = why(code, vendor=adapter)
            if words is not None and not as_json:
                print(f"{shown(adapter)}/{shown(code)}: {words}")
                print(
                    f"  no line says otherwise; `tidings status-map set {which} --means … --reason …` adds one"
                )
                return
            said = shown(str(error)).rstrip(".")
            raise CommandError(
                f"{said}; `tidings status-map set {which} --means … --reason …` says it"
            ) from None
    print_json(found) if as_json else print("\n".join(_lines(found)))


@app.command("set")
def set_(
    adapter: Adapter,
    code: Code,
    *,
    means: Annotated[str, typer.Option("--means", help="failed_perm, rejected_by_recipient, bounced, …")],
    reason: Annotated[str, typer.Option("--reason", help="A word: invalid_address, hard_bounce, blocked, …")],
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Say what a code means."""
    from tidings_client import status_map

    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        own = _own(tidings, adapter, code, platform=platform)
        version = own["version"] if own else None
        done = tidings.call(status_map.put(adapter, code, means, reason, version=version, platform=platform))
    print_json(done) if as_json else print("\n".join(_lines(done)))


@app.command("revert")
def revert(
    adapter: Adapter,
    code: Code,
    *,
    version: Annotated[int, typer.Option("--version", help="Which one is to count again.")],
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Let an earlier version of your line count again."""
    from tidings_client import status_map

    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        own = _needed(_own(tidings, adapter, code, platform=platform), adapter, code)
        done = tidings.call(
            status_map.revert(adapter, code, version, version=own["version"], platform=platform)
        )
    print_json(done) if as_json else print("\n".join(_lines(done)))


@app.command("remove")
def remove(
    adapter: Adapter,
    code: Code,
    *,
    platform: Platform = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Remove your line: the platform's counts again, if there is one."""
    from tidings_client import status_map

    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        own = _needed(_own(tidings, adapter, code, platform=platform), adapter, code)
        tidings.call(status_map.remove(adapter, code, version=own["version"], platform=platform))
    print(f"{adapter}/{code} is removed")


@app.command("reapply")
def reapply(
    adapter: Adapter,
    code: Code,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count alone.")] = False,
    platform: Platform = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Apply receipts of the last 35 days that were kept as unknown, with what the code means now."""
    from tidings_client import status_map

    told, more = 0, True
    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        while more:
            done = tidings.call(status_map.reapply(adapter, code, dry_run=dry_run, platform=platform))
            told += done["reapplied"]
            more = done["more"] and done["reapplied"] > 0 and not dry_run
    if dry_run:
        print(f"{counted(told, 'receipt')}{' and more' if done['more'] else ''} would be applied again")
    else:
        print(f"{counted(told, 'receipt')} applied again")


def _all(tidings: "Tidings", adapter: str | None, *, platform: bool) -> Iterator[dict[str, Any]]:
    from tidings_client import status_map

    cursor: str | None = None
    while True:
        page = tidings.call(status_map.lines(adapter=adapter, cursor=cursor, limit=1000, platform=platform))
        yield from page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return


def _own(tidings: "Tidings", adapter: str, code: str, *, platform: bool) -> dict[str, Any] | None:
    """The caller's own line; None where there is none."""
    from tidings_client import NotFoundError, status_map

    try:
        found = tidings.call(status_map.show(adapter, code, platform=platform))
    except NotFoundError:
        return None
    own: dict[str, Any] | None = found["platform" if platform else "tenant"]
    return own


def _needed(own: dict[str, Any] | None, adapter: str, code: str) -> dict[str, Any]:
    if own is None:
        raise CommandError(f"there is no line of your own for {shown(code)} of {shown(adapter)}")
    return own


def _line(code: dict[str, Any]) -> str:
    counts = code[code["counts"]]
    mark = "*" if code["counts"] == "tenant" else " "
    return f"{mark} {code['adapter']:<20}  {shown(code['code']):<28}  {counts['canonical']:<22}  {counts['reason']}"


def _lines(code: dict[str, Any]) -> list[str]:
    counts = code.get(code.get("counts") or "") or {}
    words = why(code["code"], counts.get("reason"), vendor=code["adapter"])
    lines = [f"{code['adapter']}/{shown(code['code'])}{f': {words}' if words else ''}"]
    for whose, words in (("tenant", "your own"), ("platform", "for everybody")):
        line = code[whose]
        if line is not None:
            counts = "  ← counts" if code["counts"] == whose else ""
            lines.append(
                f"  {words:<14} {line['canonical']}, {line['reason']} (version {line['version']}){counts}"
            )
    lines += [
        f"  version {one['version']:<6} {one['canonical']}, {one['reason']}, until {to_the_second(one['until'])}"
        for one in code["history"]
    ]
    return lines
