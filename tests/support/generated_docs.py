"""Writes the pages of `docs/` that are made from the code, and the generated client: `make docs`. Checks compare them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from tools import generate_client

from tidings import settings
from tidings.backoffice.metrics import BackofficeMetrics
from tidings.contracts.adapters import Capabilities
from tidings.contracts.events import EVENTS, HEARD_EVENTS, TOLD_BY_OTHERS
from tidings.kernel.event_schemas import schemas_of
from tidings.kernel.metrics import Metrics
from tidings.notify.metrics import NotifyMetrics
from tidings.router.adapters.registry import ADAPTERS
from tidings.router.metrics import RouterMetrics

DOCS = Path(__file__).parents[2] / "docs"


def settings_page() -> str:
    """Every setting, as a table."""
    rows = "\n".join(
        f"| `{name}` | {f'`{default}`' if default else ''} | {about} |"
        for name, default, about in settings.describe()
    )
    return f"""# Settings (environment variables)

Each setting is an environment variable; flags of `tidings up` win over it.
Settings are read once, at the start, and checked together: each wrong one is named in one line, and nothing starts.
Durations are written `500ms`, `30s`, `5m`, `2h` or `1d`.
`tidings settings` shows what is set, with secrets hidden, and warns of names that look misspelt.
This page is written by `make docs`.

| variable | default | meaning |
|---|---|---|
{rows}

Variables that begin with `TIDINGS_SECRET_` are not settings: they hold secrets that `env://` references point at.
Nor are `TIDINGS_URL` and `TIDINGS_API_KEY`: commands that call a server, such as `tidings send`, use them.
"""


def all_metrics() -> Metrics:
    """A registry with the metrics of the kernel and of every service."""
    metrics = Metrics()
    NotifyMetrics(metrics)
    RouterMetrics(metrics)
    BackofficeMetrics(metrics)
    return metrics


def metrics_page() -> str:
    """Every metric, as a table."""
    rows = []
    metrics = all_metrics()
    commands = {"api": "`serve`", "jobs": "`work`"}
    for family in metrics.registry.collect():
        name = f"{family.name}_total" if family.type == "counter" else family.name
        where = ", ".join(commands[role] for role in sorted(metrics.counted_by(family.name)))
        rows.append(f"| `{name}` | {family.type} | {where} | {family.documentation} |")
    table = "\n".join(rows)
    return f"""# Metrics (Prometheus)

`GET /metrics` answers in the format of Prometheus, without a key.
Labels are few and closed: never a tenant's text, an address or a free text.
Ready-made alert rules are in [`deploy/prometheus/alerts.yaml`](../deploy/prometheus/alerts.yaml), and the [runbook](runbook.md) has a paragraph for each.
This page is written by `make docs`.

## Ports to scrape
Every process has its own counters: scrape all of them.

| process | `/healthz`, `/readyz`, `/metrics` |
|---|---|
| `tidings work` | port 9464; any free one where another worker of the machine has it. The first line that it prints names it |
| `tidings serve` | the API's port; also `TIDINGS_METRICS_PORT`, where it is set |
| `tidings up` | the API's port, for the API and the jobs; also `TIDINGS_METRICS_PORT`, where it is set |

`TIDINGS_METRICS_PORT` or `--metrics-port` gives a process a port of its own, `0` any free one, `off` none.
It listens on `TIDINGS_METRICS_HOST`, by default on `TIDINGS_HOST`: only this machine reaches `127.0.0.1`.
Several workers on one machine: give each its own port, so that Prometheus finds it again.

`/readyz` on that port also shows the partitions and the jobs of this process, with the age of the oldest last turn.
`503`: the database can't be reached, a job has failed and waits for its restart, or a job has completed no turn for a quarter of an hour.
`200` with `degraded`: it works, but an operator should act, for example because a partition is missing.

```json
{{"status": "ready", "parts": {{"database": {{"ok": true}}, "partitions": {{"ok": true, "detail": "none is missing"}}, "jobs": {{"ok": true, "detail": "31 run; the oldest last turn is of audit_anchors, 2040 s ago"}}, "journal": {{"ok": true}}}}}}
```

## What is counted
`in` names the process that counts it; in others it stands at zero.

| metric | kind | in | meaning |
|---|---|---|---|
{table}
"""


def adapters_page() -> str:
    """Every kind of adapter with what it declares about itself, as tables."""
    can, need = [], []
    for kind in (ADAPTERS[name] for name in sorted(ADAPTERS)):
        channels = ", ".join(sorted(kind.channels))
        cells = " | ".join(
            "by settings" if name in kind.by_settings else "yes" if value else ""
            for name, value in msgspec.to_builtins(kind.capabilities).items()
        )
        can.append(f"| `{kind.name}` | {kind.title} | {channels} | {cells} | {', '.join(kind.prices)} |")
        credentials = ", ".join(f"`{name}`" for name in kind.credential_fields)
        told = kind.proof or ("over its own connection" if kind.listens else "")
        need.append(f"| `{kind.name}` | {credentials} | {told} | {len(kind.statuses) or ''} |")
    names = " | ".join(name.replace("_", " ") for name in msgspec.to_builtins(Capabilities()))
    rows, others = "\n".join(can), "\n".join(need)
    return f"""# Adapters: capabilities, credentials and callback signatures

This page lists the capabilities that each kind of adapter declares.
`GET /api/v1/router/adapters/kinds` and `tidings adapter kinds` show the same, with the adapters of packages that are installed beside Tidings.
[Vendors](vendors/README.md) has a page for each: how to set it up, its settings, its hook, its codes.
[Adding an adapter](adding-an-adapter.md) says how to write one, [conformance](conformance.md) what the test suite asks of all.
This page is written by `make docs`.

| adapter | vendor | channels | {names} | priced by |
|---|---|---|{"---|" * len(msgspec.to_builtins(Capabilities()))}---|
{rows}

`html`: takes HTML beside the text. `attachments`: takes files. `idempotent`: the vendor deduplicates by an idempotency key.
`receipts`: sends delivery receipts. `cancel`: an accepted message can be cancelled. `inbound`: recipients can reply.

## Credentials and callback signatures

| adapter | secret settings | authentication of callbacks | codes with a meaning |
|---|---|---|---|
{others}

The meaning of a code is a line of the [status map](status-map.md), which is seeded from the adapters and can be changed.
"""


def event_catalogue_page() -> str:
    """Every event with its fields, as tables."""
    parts = []
    for subject, schema in schemas_of(EVENTS).items():
        from_whom = "from other systems" if subject in TOLD_BY_OTHERS else "from Tidings"
        if subject in HEARD_EVENTS - TOLD_BY_OTHERS:
            from_whom = "from Tidings and from other systems"
        rows = "\n".join(
            f"| `{name}`{'' if name in schema['required'] else ' ?'} | {_kind_of(one)} | {one.get('description', '')} |"
            for name, one in schema["properties"].items()
        )
        parts.append(
            f"## {subject}\n{schema['description']}\n`{schema['title']}`, {from_whom}.\n\n| field | type | meaning |\n|---|---|---|\n{rows}"
        )
    tables = "\n\n".join(parts)
    return f"""# Event catalogue: every event and its fields

The data of every event on the bus; [events](events.md) says how to send, read and version them.
`?` marks fields that may be left out. The JSON Schemas are in [`src/tidings/contracts/event_schemas/`](../src/tidings/contracts/event_schemas); `GET /asyncapi.json` has all of them as AsyncAPI 3.0.
This page is written by `make docs`.

{tables}
"""


def _kind_of(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return f"`{schema['$ref'].rpartition('/')[2]}`"
    if "anyOf" in schema:
        return " or ".join(_kind_of(one) for one in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_kind_of(schema['items'])}"
    if schema.get("format") == "date-time":
        return "time"
    return str(schema.get("type", "anything"))


PAGES = {
    "event-catalogue.md": event_catalogue_page,
    "settings.md": settings_page,
    "metrics.md": metrics_page,
    "adapters.md": adapters_page,
}


def main() -> None:
    """Write them."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page())
        print(f"wrote docs/{name}")
    generate_client.write()
    print("wrote the generated part of the client")


if __name__ == "__main__":
    main()
