"""The host and the port that an address names: patterns let some pass that lead nowhere."""

from urllib.parse import urlsplit


def host_and_port(url: str) -> tuple[str, int | None] | None:
    """None where nobody could be asked there."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        # As it is looked up: labels that are empty, or too long, are no name.
        host.encode("idna")
    except ValueError:
        return None
    return (host, port) if host else None
