"""What can go wrong with policies.

NotFoundError
├── UnknownPolicyError          no policy of this tenant has this id
└── UnknownPolicyVersionError   the policy has no such version
ConflictError
├── UseCaseTakenError           another policy is in force for the use case
├── PolicyDeletedError          a deleted policy can't be changed
├── PolicyInForceError          it was not deleted, so there is nothing to restore
└── GracePeriodOverError        it was deleted too long ago
"""

from tidings.kernel.refusals import ConflictError, NotFoundError


class UnknownPolicyError(NotFoundError):
    """There is no policy with this id here."""

    code = "policy_not_found"


class UnknownPolicyVersionError(NotFoundError):
    """The policy has no such version."""

    code = "policy_version_not_found"


class UseCaseTakenError(ConflictError):
    """Another policy is in force for this use case; change that one, or delete it first."""

    code = "policy_exists"


class PolicyDeletedError(ConflictError):
    """The policy is deleted; restore it first."""

    code = "policy_deleted"


class PolicyInForceError(ConflictError):
    """The policy is in force; there is nothing to restore."""

    code = "policy_in_force"


class GracePeriodOverError(ConflictError):
    """The policy was deleted too long ago to be restored; make a new one from its last version."""

    code = "policy_grace_over"
