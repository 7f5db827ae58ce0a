"""What a request about templates names: whose side it is on, the template and the version."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from litestar import Request, Response

from tidings.contracts.tenants import Channel
from tidings.kernel.http.bodies import body_of, decode, read_body
from tidings.kernel.http.callers import caller_of
from tidings.kernel.http.etags import etag
from tidings.kernel.http.operations import deps_of
from tidings.notify.templates import store
from tidings.notify.templates.deps import Deps
from tidings.notify.templates.model import TemplateVersion
from tidings.notify.templates.semver import Semver
from tidings.notify.templates.wire import VersionView, channel_of, key_of

AnyRequest = Request[Any, Any, Any]
TAG = "templates"
SIDE = "A platform key that names no tenant works on the platform's templates."


def begin(request: AnyRequest) -> AbstractAsyncContextManager[store.Side]:
    """A transaction of the caller's tenant, or of the platform."""
    # The role goes with it: the database too lets a caller who may only read do no more.
    caller, db = caller_of(request), deps_of(request, Deps).db
    if caller.tenant_id is None:
        return db.platform(caller_role=caller.role)
    return db.tenant(caller.tenant_id, caller_role=caller.role)


def template_asked(request: AnyRequest) -> tuple[str, Channel]:
    """The key and the channel in the path."""
    return key_of(request.path_params["key"]), channel_of(request.path_params["channel"])


def semver_asked(request: AnyRequest) -> str:
    """The number in the path."""
    return str(Semver.parse(str(request.path_params["semver"])))


async def optional_body(request: AnyRequest, wanted: type[Any]) -> Any:
    """The body, or an empty one."""
    return await read_body(request, wanted) if await body_of(request) else decode(b"{}", wanted)


def shown(version: TemplateVersion) -> Response[VersionView]:
    """A version as it is answered."""
    return Response(VersionView.of(version), headers={"ETag": etag(version.version)})
