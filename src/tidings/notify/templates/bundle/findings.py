"""What is said about one file of a zip."""

from tidings.contracts.templates import TemplateFinding

_LONGEST = 200


def error(
    file: str,
    what: str,
    how: str,
    *,
    locale: str | None = None,
    field: str = "",
    line: int | None = None,
    column: int | None = None,
) -> TemplateFinding:
    """Something that has to be mended; `file` is the whole path in the zip, empty for the zip itself."""
    return TemplateFinding(
        severity="error",
        file=printable(file),
        locale=locale and printable(locale),
        field=printable(field),
        line=line,
        column=column,
        what=what,
        how=how,
    )


def warning(file: str, what: str, how: str) -> TemplateFinding:
    """Something that may stay as it is."""
    return TemplateFinding(severity="warning", file=printable(file), field="", what=what, how=how)


def printable(name: str) -> str:
    """A name out of a zip, as a terminal and a log may show it."""
    return "".join(letter if letter.isprintable() else "?" for letter in name[:_LONGEST])
