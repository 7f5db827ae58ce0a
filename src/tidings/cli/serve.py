"""`tidings serve` and `tidings work`: one role each, for installations of several processes."""

from typing import Annotated, Literal

import typer

from tidings.cli.options import DatabaseUrl, DataDir, Host, MetricsPort, OwnerDatabaseUrl, Port

Only = Annotated[
    Literal["notify", "router"] | None,
    typer.Option(
        "--only",
        help="Run the jobs of one service; the other one runs in other processes, and TIDINGS_BUS_URL names the broker between them.",
    ),
]


def serve(
    *,
    port: Port = None,
    host: Host = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    metrics_port: MetricsPort = None,
) -> None:
    """Serve the API, and nothing else; the database is migrated beforehand with `tidings migrate up`."""
    from tidings.cli.process import run_role

    run_role(
        "api",
        TIDINGS_PORT=port,
        TIDINGS_HOST=host,
        TIDINGS_DATA_DIR=data_dir,
        TIDINGS_DATABASE_URL=database_url,
        TIDINGS_METRICS_PORT=metrics_port,
    )


def work(
    *,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    owner_database_url: OwnerDatabaseUrl = None,
    metrics_port: MetricsPort = None,
    only: Only = None,
) -> None:
    """Run the jobs: relay, consumers, partitions, sweepers; any number of processes may."""
    from tidings.cli.process import run_role

    run_role(
        "jobs",
        only=only,
        TIDINGS_DATA_DIR=data_dir,
        TIDINGS_DATABASE_URL=database_url,
        TIDINGS_OWNER_DATABASE_URL=owner_database_url,
        TIDINGS_METRICS_PORT=metrics_port,
    )
