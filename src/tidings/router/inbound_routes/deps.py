"""What the routes of inbound routes need; `bootstrap` fills it."""

from dataclasses import dataclass
from datetime import timedelta

from tidings.kernel.db import Database
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.idempotency import Idempotency
from tidings.router.inbound_routes.change import RouteChanger
from tidings.router.inbound_routes.redeliver import Redeliverer
from tidings.router.inbound_routes.webhook_test import WebhookTester


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """The parts that inbound routes touch."""

    db: Database
    idempotency: Idempotency
    changer: RouteChanger
    redeliverer: Redeliverer
    trier: WebhookTester
    deliveries_wakeup: Wakeup
    #: For how long a removed route goes on working, where nobody says otherwise.
    grace: timedelta = timedelta(hours=24)
