"""What can go wrong with operators.

NotFoundError
└── UnknownOperatorError      there is no operator with this id here
ConflictError
├── OperatorExistsError       somebody with this mail is one already
├── OwnOperatorError          nobody changes their own rights
├── OperatorStatusError       not in the present status
├── OperatorErasedError       their data was removed
└── OperatorGrantBrokenError  the application did not write their rights
NotAllowedError
├── RightsEscalationError     more would be given than the giver has
└── OperatorsOnlyError        this takes an operator's session
"""

from tidings.kernel.refusals import ConflictError, FieldError, NotAllowedError, NotFoundError


class UnknownOperatorError(NotFoundError):
    """There is no operator with this id here."""

    code = "operator_not_found"


class OperatorExistsError(ConflictError):
    """There is an operator with this mail already; change that one, or send its invitation again."""

    code = "operator_exists"


class OwnOperatorError(ConflictError):
    """Nobody changes, disables or resets themselves; ask another admin."""

    code = "own_operator"


class OperatorStatusError(ConflictError):
    """The operator is not in a status in which that can be done."""

    code = "operator_status"


class OperatorErasedError(ConflictError):
    """The operator's personal data was erased; invite them anew."""

    code = "operator_erased"


class OperatorGrantBrokenError(ConflictError):
    """The operator's role, properties or status were changed in the database by another program; put back what the audit says, or erase the operator."""

    code = "operator_grant_broken"


class RightsEscalationError(NotAllowedError):
    """Nobody gives rights that they lack, nor changes an operator who has more rights than they."""

    code = "escalation"

    def __init__(self, field: str, remedy: str) -> None:
        super().__init__(f"{field} {remedy}")
        self.errors = (FieldError(field, remedy),)


class OperatorsOnlyError(NotAllowedError):
    """This takes an operator's session, and no API key; sign in at /console/."""

    code = "operators_only"
