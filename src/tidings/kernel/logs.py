"""Structured logs: an event name plus ids as fields, and nothing that belongs to a person.

Redaction works on two lines. A field whose *name* says that it holds something personal or secret is
replaced whole. In every other text, whatever *looks like* an address or a credential is replaced, so
that a driver's message or a traceback can't carry one out. People's words have no such shape; a body or a
name is kept out by never being passed here, and the first line catches it when the code forgets.
"""

import logging
import re
import sys
import traceback
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from tidings.kernel.errors import TidingsError
from tidings.kernel.outage import OUTAGE
from tidings.kernel.plain_structlog import structlog

_HIDDEN = "***"
#: So many calls of a traceback are named.
_INNERMOST = 4

#: Parts of a field's name that say it must not be shown.
_SECRET_NAMES = re.compile(
    r"(password|secret|token|authorization|cookie|api_?key|credential|address|e?mail|phone|msisdn|"
    r"subject_line|body|text|html|variables|display_name|ciphertext|plaintext|otp)",
    re.IGNORECASE,
)
#: Names that hold such a part and are harmless: ids, counts, hashes.
_HARMLESS_NAMES = re.compile(r"(_id|_hash|_count|_bytes|_ms|_seconds|_version)\Z", re.IGNORECASE)

_CREDENTIALS = (
    (re.compile(r"(?i)\b(postgres(?:ql)?|redis|nats|https?|amqp)://[^\s/@:]+:[^\s@]+@"), r"\1://***@"),
    (re.compile(r"\btdk_[0-9A-Za-z]+_[0-9A-Za-z_-]+"), "tdk_***"),
    (re.compile(r"(?i)\bbearer\s+[A-Za-z0-9._~+/=-]{8,}"), "bearer ***"),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*"), "***"),
)
#: Words by their delimiters, one pass over the text however long a word is.
_WORD = re.compile(r"[^\s<>\"'(),:;=\[\]]+")
_PHONE = re.compile(r"(?<![\w.:-])\+?\d[\d ().-]{7,17}\d(?![\w.:-])")
#: Digits that are no telephone number: dates and times as logs write them, plain decimal numbers.
_NOT_A_NUMBER = re.compile(r"\d{4}-\d\d-\d\d([ T].*)?|\d+\.\d+|\d{1,9}|\d{1,3}(\.\d{1,3}){3}")


def redact_text(text: str) -> str:
    """`text` without anything that looks like an address, a number to call or a credential."""
    for shape, instead in _CREDENTIALS:
        text = shape.sub(instead, text)
    if "@" in text:
        text = _WORD.sub(_hide_address, text)
    return _PHONE.sub(_hide_phone, text)


def _hide_address(match: re.Match[str]) -> str:
    word = match.group(0)
    if word.startswith("//***@"):  # a URL whose credentials are gone already
        return word
    local, at, domain = word.partition("@")
    # Anything with letters on both sides of the sign is one, a dot or none.
    return _HIDDEN if at and local and domain.strip(".") else word


def _hide_phone(match: re.Match[str]) -> str:
    found = match.group(0)
    return found if _NOT_A_NUMBER.fullmatch(found) else _HIDDEN


def redact(value: Any, name: str = "") -> Any:
    """`value` as it may be logged under `name`."""
    if name and _SECRET_NAMES.search(name) and not _HARMLESS_NAMES.search(name):
        return _HIDDEN
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(value)} bytes>"
    if isinstance(value, dict):
        return {key: redact(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [redact(item, name) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return redact_text(str(value))


def _redact_event(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    return {key: redact(value, "" if key == "event" else key) for key, value in event.items()}


def _bound_outages(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    if OUTAGE.keeps_back(event):
        raise structlog.DropEvent
    return event


class _ToStderr:
    """Prints to whatever stderr is at that moment; a stream that was kept may have been closed since."""

    def __init__(self, *_: Any) -> None:
        """The factory's arguments mean nothing here."""

    def msg(self, message: str) -> None:
        """One line."""
        print(message, file=sys.stderr, flush=True)  # noqa: T201  # this is where lines come out

    debug = info = warning = error = critical = exception = fatal = log = msg


class _StderrHandler(logging.Handler):
    """The same, for libraries that speak through the standard library."""

    def emit(self, record: logging.LogRecord) -> None:
        """One line."""
        print(self.format(record), file=sys.stderr, flush=True)  # noqa: T201


def configure(*, level: str = "info", style: str = "auto") -> None:
    """Set up logging for this process; `style` is json, console or auto."""
    console = style == "console" or (style == "auto" and sys.stderr.isatty())
    renderer: Any = (
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
        if console
        else structlog.processors.JSONRenderer(ensure_ascii=False)
    )
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        _bound_outages,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        structlog.processors.format_exc_info,
        _redact_event,
    ]
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=_ToStderr,
        cache_logger_on_first_use=False,
    )
    # Libraries speak through the standard library; their words go through the same redaction.
    handler = _StderrHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(getattr(logging, level.upper()), logging.WARNING))


def why(error: BaseException) -> dict[str, str]:
    """What a line says about an error: its class, and its words where they are ours and so quote no person."""
    said = {"reason": str(error)} if isinstance(error, TidingsError) else {}
    return {"error": type(error).__name__, **said}


def where(error: BaseException) -> str | None:
    """The innermost calls of an error's traceback, by file and line: nothing of the values that were in them."""
    frames = traceback.extract_tb(error.__traceback__)[-_INNERMOST:]
    return " > ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames) or None


def get_logger(name: str) -> structlog.typing.FilteringBoundLogger:
    """A logger that says which part is speaking."""
    logger: structlog.typing.FilteringBoundLogger = structlog.get_logger(part=name)
    return logger
