"""What can go wrong with digests.

RefusalError
├── NotFoundError
│   └── UnknownDigestError      no digest window of this tenant has this id
└── ConflictError
    └── DigestNotOpenError      it is being flushed, or was
"""

from tidings.kernel.refusals import ConflictError, NotFoundError


class UnknownDigestError(NotFoundError):
    """There is no digest window with this id here; those that were flushed are kept for thirty days."""

    code = "digest_not_found"


class DigestNotOpenError(ConflictError):
    """It can't be flushed: it is being flushed at this moment, or was flushed before."""

    code = "digest_not_open"
