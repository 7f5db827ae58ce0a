"""What can go wrong with channels.

NotFoundError
└── UnknownChannelError   the tenant has not set this channel up
"""

from tidings.kernel.refusals import NotFoundError


class UnknownChannelError(NotFoundError):
    """This channel is not set up here; PUT it first."""

    code = "channel_not_found"
