"""`tidings explain`: why a notification did or did not happen."""

import json
from typing import Annotated

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.options import DataDir, Json


def explain(
    notification: Annotated[str, typer.Argument(metavar="NOTIFICATION", help="Its id, ntf_…")],
    *,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Every gate that was passed, in every round.")
    ] = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Tell a notification's story: where it stands, what was decided and why, what happened when."""
    with client(url, key, tenant, data_dir) as tidings:
        story = tidings.explain(notification)
    if as_json:
        print(json.dumps(story.raw, indent=2, ensure_ascii=False))
        return
    from tidings.cli.printing import print_lines
    from tidings.cli.story import tell

    print_lines(tell(story, verbose=verbose))
