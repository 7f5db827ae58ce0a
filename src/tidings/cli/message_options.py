"""Parses the options of a message: recipient, variables, times and attachments."""

import json
import mimetypes
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tidings.cli.failures import CommandError
from tidings.cli.options import duration_of
from tidings_client import Address, Attachment, Recipient, RefusedError

_NAME_IN = re.compile(r"[.\[].*")
#: Channels with telephone numbers as addresses.
_BY_NUMBER = frozenset({"sms", "whatsapp", "viber", "voice"})


def recipient_of(to: str, *, channel: str, name: str | None) -> str | Recipient:
    """A recipient by its id, or by an address."""
    if to.startswith("rcp_"):
        if name is not None:
            raise CommandError("--name is for addresses; a recipient by id has a name already")
        return to
    return Recipient(display_name=name, addresses=[Address(_channel_of(to, channel), to)])


def _channel_of(to: str, channel: str) -> str:
    if "@" in to and channel in {"auto", "email"}:
        return "email"
    if re.fullmatch(r"\+[\d\s().-]+", to) and channel in {"auto", *_BY_NUMBER}:
        return "sms" if channel == "auto" else channel
    if channel == "auto":
        raise CommandError(
            f"{to!r} is no recipient's id (rcp_…), mail address or number such as +93700123456; "
            "say with --channel what kind of address it is"
        )
    return channel


def variables_of(pairs: Sequence[str], file: Path | None) -> dict[str, Any]:
    """The file's, with the single ones over them."""
    found = _read_object(file) if file is not None else {}
    for pair in pairs:
        name, mark, value = pair.partition("=")
        plain = name.removesuffix(":")
        if not mark or not plain:
            raise CommandError(f"--var must be NAME=TEXT or NAME:=JSON, not {pair!r}")
        found[plain] = json_value(value, f"--var {plain}") if name.endswith(":") else value
    return found


@contextmanager
def hinted(pairs: Sequence[str]) -> Iterator[None]:
    """Add to a refusal how a number is typed, where a text was typed for it."""
    try:
        yield
    except RefusedError as refused:
        texts = {pair.partition("=")[0]: pair.partition("=")[2] for pair in pairs}
        hints = [
            f"type it as --var {name}:={texts[name]}"
            for error in refused.errors
            if (name := _NAME_IN.sub("", error.field.removeprefix("variables."))) in texts
            and _is_json(texts[name])
        ]
        if not hints:
            raise
        said = str(refused).rstrip(".")
        raise CommandError(f"{said}; NAME=VALUE is text, so {', '.join(dict.fromkeys(hints))}") from None


def _is_json(text: str) -> bool:
    try:
        return not isinstance(json.loads(text), str)
    except (ValueError, RecursionError):
        return False


def _read_object(file: Path) -> dict[str, Any]:
    found = json_file(file, "--variables")
    if not isinstance(found, dict):
        raise CommandError(f"--variables {file} must hold a JSON object")
    return found


def json_file(file: Path, option: str) -> Any:
    """The JSON in a file, or in standard input where it is `-`."""
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise CommandError(f"{option} {file} can't be read: {reason}") from None
    return json_value(text, f"{option} {file}")


def json_value(text: str, what: str) -> Any:
    """The JSON that was typed."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{what} is no JSON: {error}") from None


def moment_of(text: str | None, option: str) -> datetime | None:
    """A moment, or so long from now."""
    if text is None:
        return None
    if (length := duration_of(text.strip())) is not None:
        return datetime.now(UTC) + length
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise CommandError(
            f"{option} must be a moment with its offset such as 2026-12-01T09:00Z or 2026-12-01T09:00+04:30, "
            f"or a time from now such as 10m, 2h or 1d, not {text!r}"
        )
    return moment


def attachment(file: Path) -> Attachment:
    """The file, under its own name."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise CommandError(f"--attach {file} can't be read: {error.strerror}") from None
    kind, _ = mimetypes.guess_type(file.name)
    return Attachment(filename=file.name, media_type=kind or "application/octet-stream", content=content)
