"""`tidings explain`: why a notification did or did not happen."""

from typing import Annotated

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import Output


@api_command(None, "explain")
def explain(
    api: Api,
    notification: Annotated[str, typer.Argument(help="Its id, ntf_…")],
    *,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Every gate that was passed, in every round.")
    ] = False,
) -> Output:
    """Tell a notification's story: where it stands, what was decided and why, what happened when."""
    from tidings.cli.explanation_format import explanation_lines

    story = api.tidings.explain(notification)
    return Output(story.raw, explanation_lines(story, verbose=verbose))
