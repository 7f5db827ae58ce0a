"""What we answer to STOP, START and HELP, in the language of the word."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tidings.router.conversations.model import ConfirmationKind

_STOPPED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "en": "{name}: you will get no more messages from us here. Reply START to get them again.",
        "fr": "{name} : vous ne recevrez plus de messages de notre part ici. Répondez DÉBUT pour en recevoir à nouveau.",
        "es": "{name}: ya no recibirá más mensajes nuestros aquí. Responda ALTA para volver a recibirlos.",
        "pt": "{name}: não receberá mais mensagens nossas aqui. Responda VOLTAR para recebê-las de novo.",
        "ar": "{name}: لن تصلك رسائل منا هنا بعد الآن. أرسل ابدأ لتصلك من جديد.",
        "fa": "{name}: دیگر اینجا پیامی از ما دریافت نمی‌کنید. برای دریافت دوباره، شروع را بفرستید.",
        "ps": "{name}: نور به دلته زموږ پیغامونه نه ترلاسه کوئ. د بیا ترلاسه کولو لپاره پیل ولیکئ.",
        "ha": "{name}: ba za ku sake samun saƙonmu a nan ba. Ku amsa FARA don sake samunsu.",
        "yo": "{name}: ẹ kò ní rí ìfiránṣẹ́ wa gbà níbí mọ́. Ẹ dáhùn BẸ̀RẸ̀ láti tún máa rí wọn gbà.",
        "ig": "{name}: ị gaghị enwetakwa ozi anyị ebe a. Zaa MALITE ka ị nwetaghachi ha.",
    }
)
_STARTED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "en": "{name}: you get our messages here again. Reply STOP to end them.",
        "fr": "{name} : vous recevez à nouveau nos messages ici. Répondez STOP pour les arrêter.",
        "es": "{name}: vuelve a recibir nuestros mensajes aquí. Responda BAJA para dejar de recibirlos.",
        "pt": "{name}: volta a receber as nossas mensagens aqui. Responda SAIR para deixar de as receber.",
        "ar": "{name}: ستصلك رسائلنا هنا من جديد. أرسل توقف لإيقافها.",
        "fa": "{name}: دوباره پیام‌های ما را اینجا دریافت می‌کنید. برای قطع، لغو را بفرستید.",
        "ps": "{name}: بیا دلته زموږ پیغامونه ترلاسه کوئ. د درولو لپاره بند ولیکئ.",
        "ha": "{name}: za ku sake samun saƙonmu a nan. Ku amsa DAKATA don dakatar da su.",
        "yo": "{name}: ẹ ó tún máa rí ìfiránṣẹ́ wa gbà níbí. Ẹ dáhùn DÚRÓ láti dá wọn dúró.",
        "ig": "{name}: ị na-enweta ozi anyị ebe a ọzọ. Zaa KWỤSỊ ka ị kwụsị ha.",
    }
)
_HELPED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "en": "{name} sends you these messages. Reply STOP to get no more of them.",
        "fr": "{name} vous envoie ces messages. Répondez STOP pour ne plus en recevoir.",
        "es": "{name} le envía estos mensajes. Responda BAJA para no recibir más.",
        "pt": "{name} envia-lhe estas mensagens. Responda SAIR para não receber mais.",
        "ar": "{name} يرسل إليك هذه الرسائل. أرسل توقف حتى لا تصلك بعد الآن.",
        "fa": "{name} این پیام‌ها را برای شما می‌فرستد. برای دریافت نکردن آنها، لغو را بفرستید.",
        "ps": "{name} تاسو ته دا پیغامونه لیږي. د نه ترلاسه کولو لپاره بند ولیکئ.",
        "ha": "{name} ne ke aiko muku da waɗannan saƙonni. Ku amsa DAKATA don daina samunsu.",
        "yo": "{name} ni ó ń fi àwọn ìfiránṣẹ́ wọ̀nyí ránṣẹ́ sí yín. Ẹ dáhùn DÚRÓ láti má ṣe rí wọn gbà mọ́.",
        "ig": "{name} na-ezitere gị ozi ndị a. Zaa KWỤSỊ ka ị ghara ịnweta ha ọzọ.",
    }
)
_TEXTS: Final[Mapping[ConfirmationKind, Mapping[str, str]]] = MappingProxyType(
    {"stop_confirmation": _STOPPED, "start_confirmation": _STARTED, "help": _HELPED}
)


def confirmation(kind: ConfirmationKind, language: str, *, name: str) -> str:
    """The answer; `name` is what the tenant is called."""
    texts = _TEXTS[kind]
    return texts.get(language, texts["en"]).replace("{name}", name)
