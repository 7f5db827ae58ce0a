"""A draft that begins with what a published version says, its pictures included."""

from tidings.backoffice.console.own_api import OwnApi
from tidings.backoffice.console.templates.editor_form import next_semver
from tidings.backoffice.console.templates.paths import template_api, version_api

_SAME = ("variables_schema", "locales", "preview_samples", "fallback_chain", "partials", "strings", "layout")


async def copy_version(api: OwnApi, key: str, channel: str, semver: str) -> str:
    """The number of the draft."""
    version = await api.get(version_api(key, channel, semver))
    taken = await api.get(template_api(key, channel, "/versions"), limit=100)
    number = next_semver([one["semver"] for one in taken["items"]])
    body = {name: version[name] for name in _SAME}
    await api.post(template_api(key, channel, "/versions"), {**body, "semver": number})
    for asset in version["assets"]:
        picture = await api.call("GET", version_api(key, channel, semver, f"/assets/{asset['name']}"))
        await api.call(
            "PUT",
            version_api(key, channel, number, f"/assets/{asset['name']}"),
            content=picture.content,
            media_type="application/octet-stream",
        )
    return number
