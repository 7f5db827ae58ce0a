"""What can go wrong with templates.

TidingsError
└── CompileError                a source can't be compiled; says the line and the remedy
RefusalError
├── NotFoundError
│   ├── UnknownTemplateError       no template has this key and channel
│   ├── UnknownTemplateVersionError   it has no such version
│   ├── UnknownLayoutError            no layout has this name
│   └── UnknownAssetError             the version has no such picture
├── ConflictError
│   ├── TemplateVersionTakenError     the version exists already
│   ├── TemplateNotDraftError         only a draft can be changed, deleted or published
│   ├── ApproverIsRequesterError      who asked for an AI draft can't approve it
│   ├── ApprovalMissingError          an AI draft needs a human approver
│   └── NothingToRollBackToError      no earlier version was published
├── TooBusyError
│   └── TooMuchCheckingError          a tenant's texts take more seconds to check than it has
└── InvalidError
    ├── UnpublishableError         the validator found faults; names them all
    └── InvalidVariablesError      variables don't fit the version's schema; names them all
"""

from collections.abc import Sequence

from tidings.contracts.templates import TemplateFinding
from tidings.kernel.errors import TidingsError
from tidings.kernel.refusals import ConflictError, FieldError, InvalidError, NotFoundError, TooBusyError
from tidings.notify.templates.faults import Fault


class CompileError(TidingsError):
    """A template's source can't be compiled."""

    code = "template_source"

    def __init__(self, message: str = "", *, faults: Sequence[Fault] = ()) -> None:
        super().__init__(message or "; ".join(map(str, faults)))
        #: Everything that was found at once.
        self.faults = tuple(faults) or (Fault.read(message),)


class UnknownTemplateError(NotFoundError):
    """No template has this key and channel, neither yours nor the platform's."""

    code = "template_not_found"


class UnknownTemplateVersionError(NotFoundError):
    """The template has no such version."""

    code = "template_version_not_found"


class UnknownLayoutError(NotFoundError):
    """There is no layout of this name."""

    code = "layout_not_found"


class UnknownAssetError(NotFoundError):
    """The version has no picture of this name."""

    code = "template_asset_not_found"


class TemplateVersionTakenError(ConflictError):
    """The template has a version of this number already; choose a higher one."""

    code = "template_version_taken"


class TemplateNotDraftError(ConflictError):
    """Only a draft can be changed, deleted or published; to go back to an earlier version, roll back."""

    code = "template_not_draft"


class ApprovalMissingError(ConflictError):
    """A version drafted by AI needs a human approver who is not its requester."""

    code = "approval_missing"


class ApproverIsRequesterError(ConflictError):
    """Who asked for an AI draft, or wrote it down, can't approve it; another person has to."""

    code = "approver_is_requester"


class NothingToRollBackToError(ConflictError):
    """No earlier version of this template was ever published."""

    code = "nothing_to_roll_back_to"


class TooMuchCheckingError(TooBusyError):
    """Checking and showing your templates has taken more processor time than you have; try again after the time in Retry-After."""

    code = "too_much_checking"

    def __init__(self, message: str, *, retry_after: float) -> None:
        super().__init__(message)
        #: Seconds until there is time again.
        self.retry_after = retry_after


class UnpublishableError(InvalidError):
    """The validator found faults in the version; nothing was published."""

    code = "template_unpublishable"

    def __init__(self, findings: Sequence[TemplateFinding]) -> None:
        super().__init__([_field_error(finding) for finding in findings if finding.severity == "error"])
        # The whole report, warnings too.
        self.extensions = {"report": tuple(findings)}


def _field_error(finding: TemplateFinding) -> FieldError:
    at = "" if finding.line is None else f"line {finding.line}: "
    return FieldError(finding.field, f"{at}{finding.what}; {finding.how}")


class InvalidVariablesError(InvalidError):
    """The variables don't fit the template's schema."""

    code = "invalid_variables"
