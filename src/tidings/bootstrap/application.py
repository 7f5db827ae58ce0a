"""What the API serves: every resource behind the access guard."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from prometheus_client import Counter, Histogram

from tidings import __version__
from tidings.bootstrap.surface import Served, resources_of
from tidings.contracts.event_schemas import event_schemas
from tidings.contracts.events import HEARD_EVENTS, TOLD_BY_OTHERS
from tidings.kernel import tracing
from tidings.kernel.asyncapi import EventDocs
from tidings.kernel.clock import Clock
from tidings.kernel.http.app import HttpApp, build_app
from tidings.kernel.http.callers import AccessGuard, Authenticator
from tidings.kernel.http.health import Check
from tidings.kernel.http.request_ids import Answered
from tidings.kernel.metrics import Metrics
from tidings.notify.access.authenticate import AnyAuthenticator
from tidings.notify.access.known_keys import KnownKeys
from tidings.notify.access.platform_access_audit import AuditingWitness
from tidings.settings import AuthSettings

if TYPE_CHECKING:
    from tidings.bootstrap.system import System

#: The groups that people look for first, in the docs; the others follow by their names.
_FIRST_TAGS = (
    "notifications",
    "recipients",
    "preferences",
    "suppressions",
    "templates",
    "layouts",
    "categories",
    "channels",
    "policies",
    "executions",
    "conversations",
)


def application(
    system: "System",
    *,
    resources: Served | None = None,
    tokens: Authenticator | None = None,
    checks: Mapping[str, Check] | None = None,
    on_answer: Callable[[Answered], None] | None = None,
) -> HttpApp:
    """The application, of all resources that the system has or of those that are named."""
    guard = AccessGuard(
        authenticator=AnyAuthenticator(
            keys=system.notify.parts.make(KnownKeys, keys=system.access.keys),
            tokens=tokens or _tokens(system.settings.auth, system.clock),
            people=system.inbox.tokens,
        ),
        gate=system.access.gate,
        witness=system.notify.parts.get(AuditingWitness),
        sessions=system.backoffice.authenticator,
        second_factor=system.backoffice.attestor,
        clock=system.clock,
    )
    http = system.settings.http
    app = build_app(
        resources=resources if resources is not None else resources_of(system),
        guard=guard,
        clock=system.clock,
        version=__version__,
        tags=_FIRST_TAGS,
        checks=checks if checks is not None else system.kernel.checks(),
        render_metrics=system.kernel.metrics.render,
        body_limit=http.max_body_bytes,
        tracer=tracing.tracer("http") if system.settings.observability.otlp_url else None,
        on_answer=on_answer or _counting(system.kernel.metrics),
        sockets=system.inbox.sockets(),
        operator_witness=system.backoffice.activity,
        events=EventDocs(schemas=event_schemas, heard=HEARD_EVENTS, told_by_others=TOLD_BY_OTHERS),
    )
    system.backoffice.app = app
    return app


def _tokens(auth: AuthSettings, clock: Clock) -> Authenticator | None:
    if auth.jwks_url is None or auth.issuer is None or auth.audience is None:
        return None
    # Imported only where tokens are used: the library behind it is a tenth of a second of every start.
    from tidings.kernel.token_keys import Jwks
    from tidings.notify.access.jwt import JwtAuthenticator, JwtSettings

    return JwtAuthenticator(
        Jwks(auth.jwks_url, clock=clock),
        settings=JwtSettings(issuer=auth.issuer, audience=auth.audience),
        clock=clock,
    )


def _counting(metrics: Metrics) -> Callable[[Answered], None]:
    # Methods, routes and statuses are few; finding a labelled metric takes longer than counting with it.
    @cache
    def of(method: str, route: str, status: int) -> tuple[Counter, Histogram]:
        return metrics.requests.labels(method, route, str(status)), metrics.request_seconds.labels(
            method, route
        )

    def count(answered: Answered) -> None:
        requests, seconds = of(answered.method, answered.route, answered.status)
        requests.inc()
        seconds.observe(answered.seconds)

    return count
