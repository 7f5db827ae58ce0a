"""`tidings bff-gate`: the release gate of the back office."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.options import Json

if TYPE_CHECKING:
    from tidings.operations.bff_gate.verdict import GateVerdict

Seconds = Annotated[
    int, typer.Option("--seconds", min=1, max=3600, help="How long the load lasts before a process joins.")
]
Rate = Annotated[int, typer.Option("--rate", min=10, max=5000, help="Requests a second.")]
CacheUrl = Annotated[
    str | None,
    typer.Option("--cache-url", help="A Redis or Valkey that processes share views in; default: none."),
]


def bff_gate(
    *, seconds: Seconds = 12, rate: Rate = 300, cache_url: CacheUrl = None, as_json: Json = False
) -> None:
    """Put the back office under the load of a busy region, in a house of its own, and say whether it holds; exit code 1: it does not, 3: it does not on a machine that is busy."""
    from tidings.cli.bff_gate_house import GateHouse

    with GateHouse(rate=rate, cache_url=cache_url, say=_quiet if as_json else _say) as house:
        verdict = house.measure(seconds)
    if as_json:
        _print_json(verdict)
    else:
        _print(verdict)
    raise SystemExit(verdict.exit_code)


def _say(text: str) -> None:
    print(text, flush=True)


def _quiet(_: str) -> None:
    """With --json nothing but the verdict is printed."""


def _print(verdict: "GateVerdict") -> None:
    for line in verdict.lines:
        print(f"{line.outcome}  {line.name:<14}{line.text}")
    for reason in verdict.busy:
        print(f"BUSY  {reason}")
    if not verdict.failed:
        print("The gate is passed.")
    elif verdict.busy:
        print("The gate is not passed; the machine was busy with other things: run it again on a quiet one.")
    else:
        print("The gate is not passed.")


def _print_json(verdict: "GateVerdict") -> None:
    import json

    lines: list[dict[str, Any]] = [
        {"name": line.name, "outcome": line.outcome, "text": line.text} for line in verdict.lines
    ]
    print(json.dumps({"passed": not verdict.failed, "busy": verdict.busy, "lines": lines}, indent=2))
