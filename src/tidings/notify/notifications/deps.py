"""What the routes of notifications need; `bootstrap` fills it."""

from dataclasses import dataclass

from tidings.contracts.delivery import ExecutionHistory
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.idempotency import Idempotency
from tidings.kernel.keys.keyring import Keyring
from tidings.notify.accept.endpoint import AcceptEndpoint
from tidings.notify.notifications.body import BodyReader
from tidings.notify.notifications.cancel import Canceller
from tidings.notify.notifications.explain import Explainer
from tidings.notify.notifications.lookup import NotificationFinder
from tidings.notify.notifications.release import Releaser
from tidings.notify.notifications.resend import Resender
from tidings.notify.notifications.simulate import Simulator


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that finding, explaining and taking back notifications touch."""

    db: Database
    clock: Clock
    #: Opens where messages went, to be shown as hints.
    keyring: Keyring
    #: What the router can tell.
    history: ExecutionHistory
    #: Takes new ones in; it stands before the framework too.
    front: AcceptEndpoint
    finder: NotificationFinder
    canceller: Canceller
    releaser: Releaser
    resender: Resender
    #: Of the schema `notification`.
    idempotency: Idempotency
    explainer: Explainer
    simulator: Simulator
    bodies: BodyReader
