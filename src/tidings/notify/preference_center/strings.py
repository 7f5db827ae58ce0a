"""What the public pages say, in the languages that they speak; English where a language is not among them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tidings.notify.render.locales import language_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PageStrings:
    """One language. `{tenant}` is whoever sends."""

    language: str
    direction: str
    unsubscribe: str
    ask: str
    other_choices: str
    done_title: str
    done: str
    changed_mind: str
    everything: str
    choices_title: str
    choices_intro: str
    consent_note: str
    save: str
    all_off: str
    saved: str
    off_note: str
    stale: str
    help: str
    unknown_title: str
    unknown: str
    expired_title: str
    expired: str
    busy_title: str
    busy: str
    confirm_title: str
    confirm_ask: str
    confirm: str
    confirmed_title: str
    confirmed: str
    confirmed_but_off: str
    down_title: str
    down: str
    channels: Mapping[str, str]
    categories: Mapping[str, str]

    def category(self, name: str | None) -> str:
        """What people call a category."""
        if name is None:
            return self.everything
        return self.categories.get(name) or name.replace("_", " ").capitalize()

    def channel(self, name: str) -> str:
        """What people call a channel."""
        return self.channels.get(name, name)


EN: Final = PageStrings(
    language="en",
    direction="ltr",
    unsubscribe="Unsubscribe",
    ask="Do you want {tenant} to stop sending you these messages?",
    other_choices="See all your choices",
    done_title="You are unsubscribed",
    done="{tenant} will not send you these messages any more.",
    changed_mind="If you change your mind, you can choose again here at any time.",
    everything="Everything you can say no to",
    choices_title="What you want to hear",
    choices_intro="Choose which messages {tenant} may send you, and where. Some, such as receipts and security notices, always reach you.",
    consent_note="Only with your consent. You can take it back at any time.",
    save="Save my choices",
    all_off="Unsubscribe from everything",
    saved="Your choices are saved.",
    off_note="You have unsubscribed from everything. Tick what you want to hear again, then save.",
    stale="Your choices were changed in another window meanwhile. Nothing was saved just now: here is how they stand. Please choose again.",
    help="Help",
    unknown_title="This link does not work",
    unknown="It may have been cut off when it was copied. Please open it again from the message.",
    expired_title="This link has expired",
    expired="Please use the link in a newer message. What you chose before still holds.",
    busy_title="One moment, please",
    busy="This page was opened very often just now. Please try again in a minute.",
    confirm_title="Please confirm",
    confirm_ask="Do you want to receive these messages from {tenant}?",
    confirm="Yes, I want them",
    confirmed_title="Thank you",
    confirmed="You will receive these messages from {tenant} from now on.",
    confirmed_but_off="Your consent is saved. But you have unsubscribed from everything, and that still holds: these messages will reach you only once you choose them again.",
    down_title="Not available right now",
    down="We can’t reach your choices at the moment. Please try again in a few minutes; doing it twice does no harm.",
    channels={
        "email": "Email",
        "sms": "Text message",
        "whatsapp": "WhatsApp",
        "telegram": "Telegram",
        "viber": "Viber",
        "voice": "Phone call",
        "push": "Notification on my device",
        "inapp": "In the app",
        "webhook": "Webhook",
    },
    categories={
        "transactional": "Orders and bookings",
        "operational": "Service notices",
        "security": "Security",
        "reminder": "Reminders",
        "marketing": "News and offers",
        "system": "System",
        "academic": "Courses and studies",
        "billing": "Bills and payments",
        "social": "From other people",
        "compliance": "Legal notices",
    },
)

FR: Final = PageStrings(
    language="fr",
    direction="ltr",
    unsubscribe="Se désabonner",
    ask="Voulez-vous que {tenant} cesse de vous envoyer ces messages ?",
    other_choices="Voir tous vos choix",
    done_title="Vous êtes désabonné(e)",
    done="{tenant} ne vous enverra plus ces messages.",
    changed_mind="Si vous changez d’avis, vous pouvez choisir à nouveau ici à tout moment.",
    everything="Tout ce que vous pouvez refuser",
    choices_title="Ce que vous souhaitez recevoir",
    choices_intro="Choisissez les messages que {tenant} peut vous envoyer, et par quel moyen. Certains, comme les reçus et les avis de sécurité, vous parviennent toujours.",
    consent_note="Seulement avec votre accord, que vous pouvez retirer à tout moment.",
    save="Enregistrer mes choix",
    all_off="Me désabonner de tout",
    saved="Vos choix sont enregistrés.",
    off_note="Vous êtes désabonné(e) de tout. Cochez ce que vous souhaitez recevoir à nouveau, puis enregistrez.",
    stale="Vos choix ont été modifiés entre-temps dans une autre fenêtre. Rien n’a été enregistré : voici où ils en sont. Veuillez choisir à nouveau.",
    help="Aide",
    unknown_title="Ce lien ne fonctionne pas",
    unknown="Il a peut-être été coupé lors de la copie. Veuillez l’ouvrir à nouveau depuis le message.",
    expired_title="Ce lien a expiré",
    expired="Veuillez utiliser le lien d’un message plus récent. Vos choix précédents restent valables.",
    busy_title="Un instant, s’il vous plaît",
    busy="Cette page vient d’être ouverte très souvent. Veuillez réessayer dans une minute.",
    confirm_title="Veuillez confirmer",
    confirm_ask="Voulez-vous recevoir ces messages de {tenant} ?",
    confirm="Oui, je le veux",
    confirmed_title="Merci",
    confirmed="Vous recevrez désormais ces messages de {tenant}.",
    confirmed_but_off="Votre accord est enregistré. Mais vous êtes désabonné(e) de tout, et cela reste valable : ces messages ne vous parviendront que si vous les choisissez à nouveau.",
    down_title="Indisponible pour le moment",
    down="Nous ne pouvons pas accéder à vos choix en ce moment. Veuillez réessayer dans quelques minutes ; recommencer est sans risque.",
    channels={
        "email": "E-mail",
        "sms": "SMS",
        "whatsapp": "WhatsApp",
        "telegram": "Telegram",
        "viber": "Viber",
        "voice": "Appel téléphonique",
        "push": "Notification sur mon appareil",
        "inapp": "Dans l’application",
        "webhook": "Webhook",
    },
    categories={
        "transactional": "Commandes et réservations",
        "operational": "Informations de service",
        "security": "Sécurité",
        "reminder": "Rappels",
        "marketing": "Nouveautés et offres",
        "system": "Système",
        "academic": "Cours et études",
        "billing": "Factures et paiements",
        "social": "De la part d’autres personnes",
        "compliance": "Mentions légales",
    },
)

AR: Final = PageStrings(
    language="ar",
    direction="rtl",
    unsubscribe="إلغاء الاشتراك",
    ask="هل تريد أن تتوقف {tenant} عن إرسال هذه الرسائل إليك؟",
    other_choices="عرض جميع اختياراتك",
    done_title="تم إلغاء اشتراكك",
    done="لن ترسل إليك {tenant} هذه الرسائل بعد الآن.",
    changed_mind="إذا غيّرت رأيك، يمكنك الاختيار من جديد هنا في أي وقت.",
    everything="كل ما يمكنك رفضه",
    choices_title="ما الذي تريد تلقّيه",
    choices_intro="اختر الرسائل التي يمكن أن ترسلها إليك {tenant} والوسيلة التي تصلك بها. بعض الرسائل، مثل الإيصالات وإشعارات الأمان، تصلك دائمًا.",
    consent_note="بموافقتك فقط، ويمكنك سحبها في أي وقت.",
    save="حفظ اختياراتي",
    all_off="إلغاء الاشتراك من كل شيء",
    saved="تم حفظ اختياراتك.",
    off_note="لقد ألغيت الاشتراك من كل شيء. ضع علامة على ما تريد تلقّيه من جديد ثم احفظ.",
    stale="تغيّرت اختياراتك في نافذة أخرى في هذه الأثناء. لم يُحفظ شيء الآن، وهذه هي حالتها الحالية. يرجى الاختيار من جديد.",
    help="المساعدة",
    unknown_title="هذا الرابط لا يعمل",
    unknown="ربما نُسخ الرابط ناقصًا. يرجى فتحه من الرسالة مرة أخرى.",
    expired_title="انتهت صلاحية هذا الرابط",
    expired="يرجى استخدام الرابط الموجود في رسالة أحدث. تبقى اختياراتك السابقة سارية.",
    busy_title="لحظة من فضلك",
    busy="فُتحت هذه الصفحة مرات كثيرة الآن. يرجى المحاولة بعد دقيقة.",
    confirm_title="يرجى التأكيد",
    confirm_ask="هل تريد تلقّي هذه الرسائل من {tenant}؟",
    confirm="نعم، أريدها",
    confirmed_title="شكرًا لك",
    confirmed="ستتلقى هذه الرسائل من {tenant} من الآن فصاعدًا.",
    confirmed_but_off="تم حفظ موافقتك. لكنك ألغيت الاشتراك من كل شيء، وما زال ذلك ساريًا: لن تصلك هذه الرسائل إلا إذا اخترتها من جديد.",
    down_title="غير متاح الآن",
    down="لا يمكننا الوصول إلى اختياراتك في هذه اللحظة. يرجى المحاولة بعد بضع دقائق، ولا ضرر من تكرار المحاولة.",
    channels={
        "email": "البريد الإلكتروني",
        "sms": "رسالة نصية",
        "whatsapp": "واتساب",
        "telegram": "تيليغرام",
        "viber": "فايبر",
        "voice": "مكالمة هاتفية",
        "push": "إشعار على جهازي",
        "inapp": "داخل التطبيق",
        "webhook": "Webhook",
    },
    categories={
        "transactional": "الطلبات والحجوزات",
        "operational": "إشعارات الخدمة",
        "security": "الأمان",
        "reminder": "التذكيرات",
        "marketing": "الأخبار والعروض",
        "system": "النظام",
        "academic": "الدروس والدراسة",
        "billing": "الفواتير والمدفوعات",
        "social": "من أشخاص آخرين",
        "compliance": "إشعارات قانونية",
    },
)

FA: Final = PageStrings(
    language="fa-AF",
    direction="rtl",
    unsubscribe="لغو اشتراک",
    ask="آیا می‌خواهید {tenant} دیگر این پیام‌ها را برای شما نفرستد؟",
    other_choices="دیدن همهٔ انتخاب‌های شما",
    done_title="اشتراک شما لغو شد",
    done="{tenant} دیگر این پیام‌ها را برای شما نمی‌فرستد.",
    changed_mind="اگر نظرتان تغییر کرد، هر وقت می‌توانید این‌جا دوباره انتخاب کنید.",
    everything="هر چه می‌توانید رد کنید",
    choices_title="چه پیام‌هایی می‌خواهید",
    choices_intro="انتخاب کنید که {tenant} کدام پیام‌ها را و از کدام راه برای شما بفرستد. بعضی پیام‌ها، مانند رسیدها و هشدارهای امنیتی، همیشه به شما می‌رسند.",
    consent_note="تنها با رضایت شما؛ هر وقت بخواهید می‌توانید آن را پس بگیرید.",
    save="ذخیرهٔ انتخاب‌های من",
    all_off="لغو اشتراک از همه",
    saved="انتخاب‌های شما ذخیره شد.",
    off_note="شما اشتراک همه را لغو کرده‌اید. آن‌چه را دوباره می‌خواهید نشانی کنید و ذخیره کنید.",
    stale="انتخاب‌های شما در این میان در پنجرهٔ دیگری تغییر کرد. اکنون چیزی ذخیره نشد؛ وضعیت فعلی این است. لطفاً دوباره انتخاب کنید.",
    help="کمک",
    unknown_title="این پیوند کار نمی‌کند",
    unknown="شاید هنگام کاپی‌کردن ناقص شده باشد. لطفاً آن را دوباره از پیام باز کنید.",
    expired_title="وقت این پیوند تمام شده است",
    expired="لطفاً از پیوند یک پیام تازه‌تر استفاده کنید. انتخاب‌های قبلی شما پابرجاست.",
    busy_title="لطفاً یک لحظه",
    busy="این صفحه همین حالا بسیار باز شده است. لطفاً یک دقیقه بعد دوباره کوشش کنید.",
    confirm_title="لطفاً تأیید کنید",
    confirm_ask="آیا می‌خواهید این پیام‌ها را از {tenant} دریافت کنید؟",
    confirm="بلی، می‌خواهم",
    confirmed_title="تشکر",
    confirmed="از این پس این پیام‌ها را از {tenant} دریافت می‌کنید.",
    confirmed_but_off="رضایت شما ثبت شد. اما شما اشتراک همه را لغو کرده‌اید و این هنوز پابرجاست: این پیام‌ها تنها وقتی به شما می‌رسند که آن‌ها را دوباره انتخاب کنید.",
    down_title="فعلاً در دسترس نیست",
    down="در این لحظه به انتخاب‌های شما دسترسی نداریم. لطفاً چند دقیقه بعد دوباره کوشش کنید؛ تکرار آن زیانی ندارد.",
    channels={
        "email": "ایمیل",
        "sms": "پیامک",
        "whatsapp": "واتساپ",
        "telegram": "تلگرام",
        "viber": "وایبر",
        "voice": "تماس تلفنی",
        "push": "اعلان در دستگاه من",
        "inapp": "در برنامه",
        "webhook": "Webhook",
    },
    categories={
        "transactional": "فرمایش‌ها و رزروها",
        "operational": "اطلاعیه‌های خدمات",
        "security": "امنیت",
        "reminder": "یادآوری‌ها",
        "marketing": "تازه‌ها و پیشنهادها",
        "system": "سیستم",
        "academic": "درس و تحصیل",
        "billing": "بل‌ها و پرداخت‌ها",
        "social": "از دیگران",
        "compliance": "اطلاعیه‌های قانونی",
    },
)

PS: Final = PageStrings(
    language="ps-AF",
    direction="rtl",
    unsubscribe="ګډون لغوه کول",
    ask="ایا غواړئ چې {tenant} نور دا پیغامونه درته ونه لېږي؟",
    other_choices="خپل ټول انتخابونه وګورئ",
    done_title="ستاسو ګډون لغوه شو",
    done="{tenant} به نور دا پیغامونه درته ونه لېږي.",
    changed_mind="که مو نظر بدل شو، هر وخت دلته بیا انتخاب کولای شئ.",
    everything="هر څه چې ردولای یې شئ",
    choices_title="کوم پیغامونه غواړئ",
    choices_intro="وټاکئ چې {tenant} کوم پیغامونه او د کومې لارې درته لېږلای شي. ځینې پیغامونه، لکه رسیدونه او امنیتي خبرتیاوې، تل دررسېږي.",
    consent_note="یوازې ستاسو په رضایت؛ هر وخت یې بېرته اخیستلای شئ.",
    save="زما انتخابونه خوندي کړئ",
    all_off="له هر څه ګډون لغوه کول",
    saved="ستاسو انتخابونه خوندي شول.",
    off_note="تاسو له هر څه ګډون لغوه کړی دی. هغه څه په نښه کړئ چې بیا یې غواړئ، بیا یې خوندي کړئ.",
    stale="ستاسو انتخابونه په دې منځ کې په بله کړکۍ کې بدل شول. اوس هېڅ خوندي نه شول؛ اوسنی حالت دا دی. مهرباني وکړئ بیا انتخاب کړئ.",
    help="مرسته",
    unknown_title="دا لېنک کار نه کوي",
    unknown="ښايي د کاپي کولو پر مهال نیمګړی شوی وي. مهرباني وکړئ له پیغام څخه یې بیا پرانیزئ.",
    expired_title="د دې لېنک وخت تېر شوی دی",
    expired="مهرباني وکړئ د یوه نوي پیغام لېنک وکاروئ. ستاسو پخواني انتخابونه لا هم پر ځای دي.",
    busy_title="مهرباني وکړئ یوه شېبه",
    busy="دا پاڼه همدا اوس ډېره پرانیستل شوې ده. مهرباني وکړئ یوه دقیقه وروسته بیا هڅه وکړئ.",
    confirm_title="مهرباني وکړئ تایید یې کړئ",
    confirm_ask="ایا غواړئ دا پیغامونه له {tenant} څخه ترلاسه کړئ؟",
    confirm="هو، غواړم یې",
    confirmed_title="مننه",
    confirmed="له دې وروسته به دا پیغامونه له {tenant} څخه ترلاسه کړئ.",
    confirmed_but_off="ستاسو رضایت ثبت شو. خو تاسو له هر څه ګډون لغوه کړی دی او دا لا هم پر ځای دی: دا پیغامونه به یوازې هغه وخت درورسېږي چې بیا یې انتخاب کړئ.",
    down_title="همدا اوس د لاسرسي وړ نه دی",
    down="په دې شېبه کې ستاسو انتخابونو ته لاسرسی نه لرو. مهرباني وکړئ څو دقیقې وروسته بیا هڅه وکړئ؛ بیا کول یې زیان نه لري.",
    channels={
        "email": "برېښنالیک",
        "sms": "لنډ پیغام",
        "whatsapp": "واټساپ",
        "telegram": "ټیلیګرام",
        "viber": "وایبر",
        "voice": "ټیلیفوني اړیکه",
        "push": "زما په وسیله کې خبرتیا",
        "inapp": "په اپلیکېشن کې",
        "webhook": "Webhook",
    },
    categories={
        "transactional": "فرمایشونه او بکینګونه",
        "operational": "د خدمتونو خبرتیاوې",
        "security": "امنیت",
        "reminder": "یادونې",
        "marketing": "نوي خبرونه او وړاندیزونه",
        "system": "سیسټم",
        "academic": "لوست او زده‌کړې",
        "billing": "بیلونه او تادیې",
        "social": "د نورو خلکو له خوا",
        "compliance": "قانوني خبرتیاوې",
    },
)

LANGUAGES: Final[Mapping[str, PageStrings]] = {"en": EN, "fr": FR, "ar": AR, "fa": FA, "ps": PS}


def strings_for(locale: str) -> PageStrings:
    """The language of a locale, or English."""
    return LANGUAGES.get(language_of(locale), EN)


def strings_accepted(header: str | None) -> PageStrings:
    """What a browser asks for first and we speak, or English; for pages that don't know whom they talk to."""
    for part in (header or "")[:500].split(","):
        found = LANGUAGES.get(language_of(part.partition(";")[0].strip()))
        if found is not None:
            return found
    return EN
