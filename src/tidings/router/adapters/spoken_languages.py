"""In which language a call is read out: the text's own, as far as the vendor speaks it."""

from typing import Final

from tidings.kernel.errors import BadValueError

#: What Twilio's `<Say>` speaks (twilio.com, "Text-to-Speech", November 2026); of several regions the usual one first.
_TWILIO: Final = (
    "af-ZA ar-XA ar-AE bg-BG bn-IN ca-ES cs-CZ cy-GB da-DK de-DE de-AT el-GR en-US en-AU en-GB en-IE en-IN en-NZ en-ZA es-ES "
    "es-MX es-US eu-ES fi-FI fil-PH fr-FR fr-BE fr-CA gl-ES gu-IN he-IL hi-IN hu-HU id-ID is-IS it-IT ja-JP kn-IN ko-KR lt-LT "
    "lv-LV ml-IN mr-IN ms-MY nb-NO nl-NL nl-BE pa-IN pl-PL pt-PT pt-BR ro-RO ru-RU sk-SK sr-RS sv-SE ta-IN te-IN th-TH tr-TR "
    "uk-UA vi-VN cmn-CN cmn-TW yue-HK yue-CN"
)
TWILIO: Final = tuple(_TWILIO.split())
_REGION: Final = 2
#: What Twilio calls otherwise.
_OTHERWISE: Final = {"zh": "cmn", "no": "nb", "tl": "fil", "iw": "he", "in": "id"}


def twilio_language(text: str | None, own: str) -> str:
    """The language for a text; `own` is the account's, which speaks its own language and texts whose language nobody knows.

    A `BadValueError` where Twilio does not speak it: read out in another language nobody would understand it.
    """
    if text is None or _primary(text) == _primary(own):
        return own
    language, *rest = text.split("-")
    region = next((part.upper() for part in rest if len(part) == _REGION), "")
    spoken = [known for known in TWILIO if _primary(known) == _primary(text)]
    if spoken:
        return next((known for known in spoken if known.endswith(f"-{region}")), spoken[0])
    raise BadValueError(
        "language",
        f"{language.lower()} is not spoken by Twilio; set voice_language where your voice speaks it, or let another vendor call",
    )


def _primary(tag: str) -> str:
    first = tag.partition("-")[0].lower()
    return _OTHERWISE.get(first, first)
