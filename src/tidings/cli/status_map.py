"""`tidings status-map`: what vendors' codes mean, and codes that mean nothing yet."""

from collections.abc import Iterator
from typing import Annotated

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import JsonObject, Output, command_group
from tidings.cli.failures import CommandError
from tidings.cli.printing import counted, shown, to_the_second
from tidings.cli.resource import ResourceCommands, Row
from tidings.contracts.failures import why

app = command_group()

_ADAPTER = "twilio, or a vendor's own name: http_acme."
_CODE = "The vendor's code, or its word."
Adapter = Annotated[str, typer.Argument(help=_ADAPTER)]
Code = Annotated[str, typer.Argument(help=_CODE)]


def _line(code: JsonObject) -> str:
    counts = code[code["counts"]]
    mark = "*" if code["counts"] == "tenant" else " "
    return f"{mark} {code['adapter']:<20}  {shown(code['code']):<28}  {counts['canonical']:<22}  {counts['reason']}"


def _lines(code: JsonObject) -> Iterator[str]:
    counts = code.get(code.get("counts") or "") or {}
    words = why(code["code"], counts.get("reason"), vendor=code["adapter"])
    yield f"{code['adapter']}/{shown(code['code'])}{f': {words}' if words else ''}"
    for side, owner in (("tenant", "your own"), ("platform", "for all tenants")):
        if (line := code[side]) is not None:
            mark = "  ← counts" if code["counts"] == side else ""
            yield f"  {owner:<15} {line['canonical']}, {line['reason']} (version {line['version']}){mark}"
    for one in code["history"]:
        until = to_the_second(one["until"])
        yield f"  version {one['version']:<7} {one['canonical']}, {one['reason']}, until {until}"


@api_command(app, "unknown", platform=True, empty="all that vendors said has a meaning")
def unknown(
    api: Api, *, adapter: Annotated[str | None, typer.Option(help="Of this adapter or vendor alone.")] = None
) -> Output | list[JsonObject]:
    """Show codes and words of vendors that had no meaning, and how often they came."""
    found: list[JsonObject] = api.call("list_unknown_codes", query={"adapter": adapter})["items"]
    return Output(found, _unknown_lines(found)) if found else found


def _unknown_lines(found: list[JsonObject]) -> Iterator[str]:
    for one in found:
        means = one["means"]
        now = f"means {means['canonical']} by now" if means else "means nothing yet"
        last = to_the_second(one["last_seen"])
        yield f"{one['vendor']:<20}  {shown(one['code']):<24}  {one['count']:>8}  last {last}  {now}"
    if new := next((one for one in found if not one["means"]), None):
        which = shown(f"{new['vendor']} {new['code']}")
        yield f"\n`tidings status-map set {which} --means … --reason …` gives it a meaning,"
        yield f"`tidings status-map reapply {which}` applies what was kept"


@api_command(app, "show", platform=True, text=_lines)
def show(api: Api, adapter: Adapter, code: Code) -> JsonObject | Output:
    """Show what a code means, and what your line said before."""
    from tidings_client import NotFoundError

    try:
        return api.call("show_status_line", adapter, code)
    except NotFoundError as error:
        add = f"`tidings status-map set {shown(adapter)} {shown(code)} --means … --reason …`"
        words = why(code, vendor=adapter)
        if words is None or api.as_json:
            raise CommandError(f"{shown(str(error)).rstrip('.')}; {add} says it") from None
        first = f"{shown(adapter)}/{shown(code)}: {words}"
        return Output(None, [first, f"  no line says otherwise; {add} adds one"])


@api_command(app, "reapply", platform=True)
def reapply(
    api: Api,
    adapter: Adapter,
    code: Code,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count alone.")] = False,
) -> Output:
    """Apply receipts of the last 35 days that were kept as unknown, with what the code means now."""
    count, more = 0, True
    while more:
        done = api.call("reapply_status_line", adapter, code, query={"dry_run": dry_run or None})
        count += done["reapplied"]
        more = done["more"] and done["reapplied"] > 0 and not dry_run
    receipts = counted(count, "receipt")
    rest = " and more" if done["more"] else ""
    said = f"{receipts}{rest} would be applied again" if dry_run else f"{receipts} applied again"
    return Output({**done, "reapplied": count}, said)


def _own(api: Api, adapter: str, code: str) -> JsonObject:
    """The caller's own line; nothing where there is none."""
    found = api.find("show_status_line", adapter, code) or {}
    return found.get("platform" if api.platform else "tenant") or {}


def _own_that_is_there(api: Api, adapter: str, code: str) -> JsonObject:
    own = _own(api, adapter, code)
    if not own:
        raise CommandError(f"there is no line of your own for {shown(code)} of {shown(adapter)}")
    return own


ResourceCommands(
    "status-map",
    names={"put": "set", "delete": "remove"},
    line=_line,
    lines=_lines,
    empty="there is no line",
    options={"canonical": "--means"},
    help={"adapter": _ADAPTER, "code": _CODE},
    rows={
        "list": Row(
            about="Show what codes mean, one line each; * marks lines of your own.",
            help={"adapter": "Of this adapter or vendor alone."},
            lines=None,
        ),
        "put": Row(
            about="Say what a code means.",
            help={"reason": "A word: invalid_address, hard_bounce, blocked, …"},
            look_up=_own,
        ),
        "revert": Row(
            about="Let an earlier version of your line count again.",
            help={"version": "Which one is to count again."},
            look_up=_own_that_is_there,
        ),
        "delete": Row(
            about="Remove your line: the platform's counts again, if there is one.",
            look_up=_own_that_is_there,
            done="{}/{} is removed",
        ),
    },
).add_to(app)
