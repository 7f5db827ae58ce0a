"""Writes the pages of `docs/` that are made from the code: `make docs`. A test compares them."""

from pathlib import Path

from tidings import settings
from tidings.kernel.metrics import Metrics

DOCS = Path(__file__).parents[2] / "docs"


def settings_page() -> str:
    """Every setting, as a table."""
    rows = "\n".join(
        f"| `{name}` | {f'`{default}`' if default else ''} | {about} |"
        for name, default, about in settings.describe()
    )
    return f"""# Settings

One environment variable each; flags of `tidings up` win over them.
They are read once, at the start, and checked together: what is wrong is named in one line each, and nothing starts.
Durations are written `500ms`, `30s`, `5m`, `2h` or `1d`.
`tidings settings` shows what is set, with secrets hidden, and warns of names that look misspelt.
This page is written by `make docs`.

| variable | default | meaning |
|---|---|---|
{rows}

Variables that begin with `TIDINGS_SECRET_` are not settings: they hold secrets that `env://` references point at.
Nor are `TIDINGS_URL` and `TIDINGS_API_KEY`: commands that call a server, such as `tidings send`, go by them.
"""


def metrics_page() -> str:
    """Every metric, as a table."""
    rows = []
    for family in Metrics().registry.collect():
        name = f"{family.name}_total" if family.type == "counter" else family.name
        rows.append(f"| `{name}` | {family.type} | {family.documentation} |")
    table = "\n".join(rows)
    return f"""# Metrics

`GET /metrics` answers in the format of Prometheus.
Labels are few and closed: never a tenant's words, an address or a free text.
Ready-made alert rules are in [`deploy/prometheus/alerts.yaml`](../deploy/prometheus/alerts.yaml).
This page is written by `make docs`.

| metric | kind | meaning |
|---|---|---|
{table}
"""


PAGES = {"settings.md": settings_page, "metrics.md": metrics_page}


def main() -> None:
    """Write them."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page())
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
