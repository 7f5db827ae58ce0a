"""What was typed, checked by the same types that check requests; mistakes are named by their option."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


def from_options(wanted: type[T], values: Mapping[str, object], options: Mapping[str, str]) -> T:
    """The values as a `wanted`; `options` says how the person at the keyboard calls each field."""
    import msgspec

    from tidings.kernel.http.field_errors import explain
    from tidings.kernel.refusals import InvalidError

    with named_as(options):
        try:
            return msgspec.convert(values, wanted)
        except msgspec.ValidationError as error:
            raise InvalidError(explain(dict(values), wanted, error)) from None


@contextmanager
def named_as(options: Mapping[str, str]) -> Iterator[None]:
    """Let a refusal inside name options instead of fields."""
    from tidings.cli.failures import CommandError
    from tidings.kernel.refusals import RefusalError

    try:
        yield
    except RefusalError as error:
        faults = getattr(error, "errors", ())
        if not faults:
            raise
        raise CommandError(
            "; ".join(f"{options.get(fault.field, fault.field)} {fault.remedy}" for fault in faults)
        ) from None
