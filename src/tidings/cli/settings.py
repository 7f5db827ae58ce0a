"""`tidings settings`: what is set, what it means, and what looks odd."""

import typer


def settings() -> None:
    """Show every setting with its present value; secrets stay hidden."""
    import os

    from rich.console import Console
    from rich.table import Table

    from tidings import settings as tree

    loaded = tree.load()
    table = Table("setting", "value", "meaning", box=None, header_style="bold")
    secret = tree.secret_names()
    for name, default, about in tree.describe():
        value = os.environ.get(name)
        if value and name in secret:
            value = "***"
        table.add_row(name, value or (f"{default} (default)" if default else "(default)"), about)
    Console().print(table)
    for warning in tree.warnings(loaded):
        typer.echo(f"warning: {warning}", err=True)
