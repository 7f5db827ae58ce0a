"""What is wrong with an account before its vendor is asked: the same words when it is set up, looked at and sent through.

Each names a setting as its adapter does, or `secret_ref` where the reference itself is meant; none quotes a value.
"""

from typing import Final

from tidings.kernel.errors import BadValueError, NotConfiguredError
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.kernel.secrets import SecretNotFoundError
from tidings.router.adapters.registry import LostReferenceError

#: The account's own reference.
REFERENCE: Final = "secret_ref"
_NOT_THERE: Final = "must name a secret of yours that is there and can be read"
#: An adapter fell while it was made; its own words may hold anything.
NOT_OPENED: Final = FieldError(REFERENCE, "must lead to settings that the adapter can be opened with")

#: What reading an account, or opening its adapter, raises where the account is wrong.
WRONG: Final = (SecretNotFoundError, BadValueError, InvalidError, NotConfiguredError)


def wrong_of(error: Exception) -> tuple[FieldError, ...]:
    """Every field that one of `WRONG` is about, with what it has to be instead."""
    match error:
        case LostReferenceError():
            return (FieldError(error.field, _NOT_THERE),)
        case SecretNotFoundError():
            return (FieldError(REFERENCE, _NOT_THERE),)
        case InvalidError():
            return error.errors
        case BadValueError():
            return (FieldError(error.field, error.remedy),)
        case NotConfiguredError():
            return (FieldError(REFERENCE, str(error).removeprefix(f"{REFERENCE} ")),)
    return (NOT_OPENED,)


def is_of_reference(wrong: FieldError) -> bool:
    """Whether a reference is wrong, and not what it leads to."""
    return wrong.field.endswith("_ref")
