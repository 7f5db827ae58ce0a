"""In which language a call is read out: the text's own, as far as the vendor speaks it."""

from typing import Final

from tidings.kernel.errors import BadValueError

#: What Twilio's `<Say>` takes as `language`: the type `SayLanguage` of Twilio's own library, npm `twilio` 6.2.0 (October 2026),
#: without `arb`, `en-GB-WLS` and the old names `zh-…`; of several regions the usual one first. Lithuanian, Basque and Galician
#: have voices of Google's there and are no `SayLanguage`: it is not shown that the language alone chooses them.
_TWILIO: Final = (
    "af-ZA am-ET ar-XA ar-AE bg-BG bn-IN ca-ES cs-CZ cy-GB da-DK de-DE de-AT el-GR en-US en-AU en-CA en-GB en-IE en-IN en-NZ "
    "en-ZA es-ES es-MX es-US fi-FI fil-PH fr-FR fr-BE fr-CA gu-IN he-IL hi-IN hu-HU id-ID is-IS it-IT ja-JP kn-IN ko-KR "
    "lv-LV ml-IN mr-IN ms-MY nb-NO nl-NL nl-BE pa-IN pl-PL pt-PT pt-BR ro-RO ru-RU sk-SK sr-RS sv-SE ta-IN te-IN th-TH tr-TR "
    "uk-UA vi-VN cmn-CN cmn-TW yue-HK"
)
TWILIO: Final = tuple(_TWILIO.split())
_REGION: Final = 2
#: What Twilio calls otherwise.
_OTHERWISE: Final = {"zh": "cmn", "no": "nb", "tl": "fil", "iw": "he", "in": "id"}
#: Where Chinese is spoken as Cantonese.
_CANTONESE: Final = frozenset({"HK", "MO"})


def twilio_language(text: str | None, own: str) -> str:
    """The language for a text; `own` is the account's, which speaks its own language and texts in an unknown one.

    A `BadValueError` where Twilio does not speak it: read out in another language it would not be understood.
    """
    if text is None or _primary(text) == _primary(own):
        return own
    region = _region(text)
    spoken = [known for known in TWILIO if _primary(known) == _primary(text)]
    if spoken:
        return next((known for known in spoken if known.endswith(f"-{region}")), spoken[0])
    raise BadValueError(
        "language",
        f"{text.partition('-')[0].lower()} is not spoken by Twilio; set voice_language where your voice speaks it, or let another vendor call",
    )


def _primary(tag: str) -> str:
    first = tag.partition("-")[0].lower()
    if first == "zh" and _region(tag) in _CANTONESE:
        return "yue"
    return _OTHERWISE.get(first, first)


def _region(tag: str) -> str:
    return next((part.upper() for part in tag.split("-")[1:] if len(part) == _REGION), "")
