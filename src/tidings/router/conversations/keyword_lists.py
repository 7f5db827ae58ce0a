"""The words that people send for STOP, START and HELP, language by language.

Whole messages, in whatever letters and marks they are written: `keywords.py` takes those off both sides. A word that is
an everyday answer in its language (`no`, `fin`) is in none of the lists.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

#: In the order in which they are asked: a word that several languages share is answered in the first.
LANGUAGES: Final = ("en", "fr", "es", "pt", "ar", "fa", "ps", "ha", "yo", "ig")

#: Carriers oblige all senders to heed these, whatever a tenant's own list says.
CARRIER_STOP: Final = ("STOP", "STOPALL", "UNSUBSCRIBE")

STOP: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "en": (
            *CARRIER_STOP,
            "STOP ALL",
            "CANCEL",
            "END",
            "QUIT",
            "REVOKE",
            "OPT OUT",
            "OPTOUT",
            "REMOVE",
            "REMOVE ME",
            "STOP IT",
            "PLEASE STOP",
        ),
        "fr": ("ARRÊT", "ARRÊTER", "ARRÊTEZ", "DÉSABONNER", "DÉSINSCRIRE", "STOP SMS"),
        "es": (
            "PARAR",
            "PARA",
            "BAJA",
            "ALTO",
            "CANCELAR",
            "DETENER",
            "CANCELAR SUSCRIPCIÓN",
            "DARME DE BAJA",
        ),
        "pt": ("PARE", "SAIR", "REMOVER", "DESCADASTRAR", "CANCELAR INSCRIÇÃO", "CANCELE"),
        "ar": ("توقف", "إيقاف", "ايقاف", "أوقف", "إلغاء", "الغاء", "إلغاء الاشتراك", "قف", "كفى"),
        "fa": ("لغو", "لغو ۱۱", "لغو۱۱", "لغو اشتراک", "توقف کن", "قطع"),
        "ps": ("ودروه", "ودرول", "بند کړه", "بندول", "بند", "تم کړه", "لغوه کول"),
        "ha": ("DAKATA", "TSAYA", "DAINA", "A DAINA", "TSAYAR", "DAKATAR", "FITA"),
        "yo": ("DÚRÓ", "DÁWỌ́ DÚRÓ", "DAWỌDURO", "DÁKẸ́", "FÒPIN SÍ", "JÁDE", "YỌ MÍ KÚRÒ"),
        "ig": ("KWỤSỊ", "KWỤSỊ YA", "ỌPỤPỤ", "PỤỌ", "WEPỤ M", "KAGBUO", "KWUSI"),
    }
)

START: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "en": ("START", "UNSTOP", "RESUME", "SUBSCRIBE", "OPT IN", "OPTIN"),
        "fr": ("DÉBUT", "DÉMARRER", "REPRENDRE", "ABONNER", "COMMENCER"),
        "es": ("INICIAR", "COMENZAR", "ALTA", "EMPEZAR", "REANUDAR", "SUSCRIBIR"),
        "pt": ("INICIAR", "COMEÇAR", "VOLTAR", "RETOMAR", "INSCREVER"),
        "ar": ("ابدأ", "بدء", "ابدا", "اشتراك", "استئناف", "اشترك"),
        "fa": ("شروع", "آغاز", "عضویت", "ازسرگیری"),
        "ps": ("پیل", "پیل کړه", "شروع کړه", "ګډون"),
        "ha": ("FARA", "SOMA", "CI GABA", "SHIGA"),
        "yo": ("BẸ̀RẸ̀", "TẸ̀SÍWÁJÚ", "PADÀ"),
        "ig": ("MALITE", "BIDO", "GAA N'IHU", "MBIDO"),
    }
)

HELP: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "en": ("HELP", "INFO"),
        "fr": ("AIDE", "AIDEZ MOI"),
        "es": ("AYUDA", "AUXILIO", "INFORMACIÓN"),
        "pt": ("AJUDA", "AJUDE"),
        "ar": ("مساعدة", "ساعدني", "معلومات"),
        "fa": ("کمک", "راهنما", "راهنمایی"),
        "ps": ("مرسته", "لارښود"),
        "ha": ("TAIMAKO", "TAIMAKA", "BAYANI"),
        "yo": ("ÌRÀNLỌ́WỌ́", "ÌRÀNWỌ́"),
        "ig": ("ENYEMAKA", "NYERE AKA", "NYERE M AKA"),
    }
)
