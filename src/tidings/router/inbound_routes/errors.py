"""What can go wrong with inbound routes.

NotFoundError
├── UnknownInboundRouteError      no route of this tenant has this id
└── UnknownInboundDeliveryError   no delivery of this tenant has this id
ConflictError
├── InboundNotAvailableError      the number can't be routed here
├── InboundRouteRemovedError      a removed route can't be changed
├── InboundRouteInForceError      it was not removed, so there is nothing to restore
├── InboundRouteGraceOverError    it was removed too long ago
└── DeliveryUnderWayError         it is being delivered just now
"""

from tidings.kernel.refusals import ConflictError, NotFoundError


class UnknownInboundRouteError(NotFoundError):
    """There is no inbound route with this id here."""

    code = "inbound_route_not_found"


class UnknownInboundDeliveryError(NotFoundError):
    """There is no delivery with this id here."""

    code = "inbound_delivery_not_found"


class InboundNotAvailableError(ConflictError):
    """This can't be routed here; see whether you have a route for it, or ask the platform's operators about the number."""

    code = "inbound_not_available"


class InboundRouteRemovedError(ConflictError):
    """The route was removed; restore it first."""

    code = "inbound_route_removed"


class InboundRouteInForceError(ConflictError):
    """The route is in force; there is nothing to restore."""

    code = "inbound_route_in_force"


class InboundRouteGraceOverError(ConflictError):
    """The route was removed too long ago to be restored; make a new one."""

    code = "inbound_route_grace_over"


class DeliveryUnderWayError(ConflictError):
    """It is being delivered just now; look again in a moment."""

    code = "inbound_delivery_under_way"
