"""Where templates and their versions stand, in the console and in the API."""

from typing import Final, NamedTuple
from urllib.parse import quote

from tidings.backoffice.console.kit.tables import address
from tidings.backoffice.console.own_api import at

HERE: Final = "/console/templates"


class Which(NamedTuple):
    """A template; `owner` where it is not the one that is used."""

    key: str
    channel: str
    owner: str | None = None


def template_path(key: str, channel: str, owner: str | None = None) -> str:
    """The page of a template; `owner` where it is not the one that is used."""
    return address(f"{HERE}/{quote(key, safe='')}/{quote(channel, safe='')}", {"owner": owner})


def version_path(key: str, channel: str, semver: str, end: str = "") -> str:
    """The page of a version, or one beneath it."""
    return f"{template_path(key, channel)}/versions/{quote(semver, safe='')}{end}"


def template_api(key: str, channel: str, end: str = "") -> str:
    """A template at the API."""
    return at("/api/v1/templates/{}/{}", key, channel) + end


def version_api(key: str, channel: str, semver: str, end: str = "") -> str:
    """A version at the API."""
    return at("/api/v1/templates/{}/{}/versions/{}", key, channel, semver) + end
