"""What can go wrong with templates.

TidingsError
└── CompileError                a source can't be compiled; says the line and the remedy
RefusalError
├── NotFoundError
│   ├── UnknownTemplateError       no template has this key and channel
│   └── UnknownTemplateVersionError   it has no such version
├── ConflictError
│   ├── TemplateVersionTakenError     the version exists already
│   ├── TemplateNotDraftError         a version that was published can't be published again
│   ├── ApprovalMissingError          an AI draft needs a human approver
│   └── NothingToRollBackToError      no earlier version was published
└── InvalidError
    ├── UnpublishableError         the validator found faults; names them all
    └── InvalidVariablesError      variables don't fit the version's schema; names them all
"""

from tidings.kernel.errors import TidingsError
from tidings.kernel.refusals import ConflictError, InvalidError, NotFoundError


class CompileError(TidingsError):
    """A template's source can't be compiled."""

    code = "template_source"


class UnknownTemplateError(NotFoundError):
    """No template has this key and channel, neither yours nor the platform's."""

    code = "template_not_found"


class UnknownTemplateVersionError(NotFoundError):
    """The template has no such version."""

    code = "template_version_not_found"


class TemplateVersionTakenError(ConflictError):
    """The template has a version of this number already; choose a higher one."""

    code = "template_version_taken"


class TemplateNotDraftError(ConflictError):
    """Only a draft can be published; to go back to an earlier version, roll back."""

    code = "template_not_draft"


class ApprovalMissingError(ConflictError):
    """A version drafted by AI needs a human approver who is not its requester."""

    code = "approval_missing"


class NothingToRollBackToError(ConflictError):
    """No earlier version of this template was ever published."""

    code = "nothing_to_roll_back_to"


class UnpublishableError(InvalidError):
    """The validator found faults in the version; nothing was published."""

    code = "template_unpublishable"


class InvalidVariablesError(InvalidError):
    """The variables don't fit the template's schema."""

    code = "invalid_variables"
