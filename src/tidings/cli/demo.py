"""`tidings demo`: fill the demo tenant with a month of a group of hotels, through the API, so that every page has something to show."""

from pathlib import Path
from typing import Annotated, Any

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.failures import CommandError


@api_command(None, "demo")
def demo(
    api: Api,
    *,
    size: Annotated[
        str, typer.Option(help="small (one day, seconds), month (30 days, about a minute), large.")
    ] = "month",
    seed: Annotated[int, typer.Option(help="Another seed makes other people and another month.", min=0)] = 7,
    yes: Annotated[
        bool, typer.Option("--yes", help="Also where the tenant is not called demo or test.")
    ] = False,
    sandbox_url: Annotated[
        str | None, typer.Option(help="The sandbox that the tenant sends through. [default: the data dir's]")
    ] = None,
) -> dict[str, Any]:
    """Fill the demo tenant with a plausible month, over the API; again, it changes nothing.

    Where the data dir has a clock that is behind the machine (`tidings up --demo` makes one), the month is lived through up to now. Otherwise all of it happens today.
    """
    from tidings.cli.demo_month import SIZES, MonthPlayer
    from tidings.cli.demo_month.doors import MonthClock, SandboxDoor

    if size not in SIZES:
        raise CommandError(f"--size must be one of {', '.join(SIZES)}")
    found = _facts(api.data_dir)
    tenant = api.call("own_tenant")["tenant"]
    if not yes and not any(word in tenant["slug"].split("-") for word in ("demo", "test")):
        raise CommandError(
            f"{tenant['name']} ({tenant['slug']}) is not called demo or test: people who do not exist, and "
            "thousands of messages to them, would be among its own; add --yes if that is meant"
        )
    where = sandbox_url or found.get("sandbox_url")
    if not where:
        raise CommandError(
            "the month needs the sandbox, which nobody real hears from: TIDINGS_SANDBOX=on, or --sandbox-url"
        )
    platform = Api(
        stack=api.stack, url=api.url, key=None, tenant=None, data_dir=api.data_dir, as_json=False,
        platform=False, platform_key=True,
    )  # fmt: skip
    clock = MonthClock(file=_clock(api.data_dir))
    sandbox = SandboxDoor(where)
    player = MonthPlayer(
        call=api.call,
        platform_call=platform.call if found.get("platform_key") and not api.key else None,
        sandbox=sandbox,
        clock=clock,
        size=SIZES[size],
        seed=seed,
        tell=lambda line: typer.echo(f"tidings demo: {line}", err=api.as_json),
    )
    try:
        played = player.play()
    finally:
        sandbox.close()
    if not played:
        typer.echo("tidings demo: the month is there already", err=api.as_json)
    return {"played": played, "tenant_id": tenant["id"], "seed": seed, "size": size}


def _facts(data_dir: Path | None) -> dict[str, Any]:
    from tidings.cli.api_connection import demo_facts

    return demo_facts(data_dir)[1]


def _clock(data_dir: Path | None) -> Path | None:
    from tidings.cli.api_connection import demo_facts

    file = demo_facts(data_dir)[0].with_name("clock")
    return file if file.exists() else None
