"""What can go wrong with batches.

NotFoundError
└── UnknownBatchError        no batch of this tenant has this id
ConflictError
├── BatchStateError          that can't be done in its present state
├── BatchNotReadyError       it can't be started as it is
├── BatchApprovalMissingError    somebody else has to approve it first
└── OwnBatchError            who wrote a batch can't approve it
"""

from tidings.kernel.refusals import ConflictError, NotFoundError


class UnknownBatchError(NotFoundError):
    """There is no batch with this id here."""

    code = "batch_not_found"


class BatchStateError(ConflictError):
    """That can't be done with a batch in this state."""

    code = "batch_state"


class BatchNotReadyError(ConflictError):
    """The batch can't be started as it is."""

    code = "batch_not_ready"


class BatchApprovalMissingError(ConflictError):
    """The batch has to be approved by somebody else than its author before it is started."""

    code = "batch_approval_missing"


class OwnBatchError(ConflictError):
    """Who wrote a batch, or changed it last, can't approve it; another person has to."""

    code = "batch_approver_is_author"
