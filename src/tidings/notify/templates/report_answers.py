"""Refusals that come with a report: the problem document, and what was found beside it."""

from typing import Any

import msgspec
from litestar import Request, Response

from tidings.kernel.http.problems import MEDIA_TYPE, answer
from tidings.kernel.http.request_ids import request_id_of
from tidings.notify.templates.bundle.errors import BundleRefusedError
from tidings.notify.templates.errors import UnpublishableError


def reported(
    request: "Request[Any, Any, Any]", error: UnpublishableError | BundleRefusedError
) -> Response[bytes]:
    """The problem with its `report`."""
    scope: Any = request.scope
    problem = answer(error, path=scope["path"], request_id=request_id_of(scope))
    whole = msgspec.to_builtins(problem.problem) | {"report": error.report}
    return Response(
        msgspec.json.encode(whole),
        status_code=problem.status,
        media_type=MEDIA_TYPE,
        headers=dict(problem.headers),
    )


#: For a router.
HANDLERS: dict[Any, Any] = {UnpublishableError: reported, BundleRefusedError: reported}
