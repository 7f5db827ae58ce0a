"""How a command fails: one clear line on stderr and a non-zero exit, never a traceback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


class CommandError(Exception):
    """A command can't go on; the message says why and what to do."""

    exit_code = 1


class UsageError(CommandError):
    """A command was typed without something that it needs; it ends as it does for an unknown option."""

    exit_code = 2


@contextmanager
def clear_failures() -> Iterator[None]:
    """Turn what an operator can mend into one line; what is our own mistake keeps its traceback."""
    try:
        _refuse_broken_text(sys.argv[1:])
        yield
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except Exception as error:
        lines = _lines(error)
        if lines is None:
            raise
        for line in lines:
            print(f"tidings: {line}", file=sys.stderr)
        raise SystemExit(error.exit_code if isinstance(error, CommandError) else 1) from None


def _refuse_broken_text(arguments: list[str]) -> None:
    for argument in arguments:
        # Bytes that are no UTF-8 arrive as lone surrogates, which nothing further on can hold.
        if any("\ud800" <= letter <= "\udfff" for letter in argument):
            raise CommandError(f"the argument {argument!a} is not valid UTF-8")


def _lines(error: Exception) -> list[str] | None:
    # Imported here: a command that succeeds, --help above all, does not pay for it.
    from tidings.kernel.errors import TidingsError
    from tidings.operations.embedded import DataDirError, EmbeddedPostgresError
    from tidings.operations.migrations.errors import MigrationError
    from tidings.settings import BadSettingsError

    if isinstance(error, BadSettingsError):
        return error.problems
    if isinstance(error, CommandError | DataDirError | EmbeddedPostgresError | MigrationError | TidingsError):
        return [" ".join(str(error).split())]
    return None
