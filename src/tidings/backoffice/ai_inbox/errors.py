"""What can go wrong with suggestions.

NotFoundError
└── UnknownSuggestionError    there is none, or its property is not the operator's to see
ConflictError
├── SuggestionDecidedError    somebody has decided
└── SuggestionExpiredError    its time is over
"""

from tidings.kernel.refusals import ConflictError, NotFoundError


class UnknownSuggestionError(NotFoundError):
    """There is no such suggestion, or you have no right to its property."""

    code = "ai_suggestion_not_found"


class SuggestionDecidedError(ConflictError):
    """Somebody has decided about this suggestion already."""

    code = "ai_suggestion_decided"


class SuggestionExpiredError(ConflictError):
    """The time of this suggestion is over; it can't be decided any more."""

    code = "ai_suggestion_expired"
