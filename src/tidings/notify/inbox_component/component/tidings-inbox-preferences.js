/**
 * What a person hears, and where: the preferences of <tidings-inbox>, which loads this file when they are first opened.
 * A page may hold an older `tidings-inbox.js` than this: what is handed over grows, and nothing of it goes.
 * SPDX-License-Identifier: Apache-2.0
 */

/* texts:begin; `make docs` writes them from ../translations */
const LANGUAGES = ["en","ar","fa","fr","ps"];
const TEXTS = {
  "loading": ["One moment …","لحظة …","یک لحظه …","Un instant …","یوه شېبه …"],
  "preferences.back": ["Back","رجوع","بازگشت","Retour","شاته"],
  "preferences.off": ["You have unsubscribed from everything. Switch on what you want to hear again.","لقد ألغيت الاشتراك من كل شيء. فعّل ما تريد تلقّيه من جديد.","شما اشتراک همه را لغو کرده‌اید. آنچه را دوباره می‌خواهید روشن کنید.","Vous êtes désabonné(e) de tout. Activez ce que vous souhaitez recevoir à nouveau.","تاسو له هر څه ګډون لغوه کړی دی. هغه څه چالان کړئ چې بیا یې غواړئ."],
  "preferences.pending": ["Please confirm your consent: we have sent you an email with a link.","يُرجى تأكيد موافقتك: أرسلنا إليك رسالة بريد إلكتروني تتضمن رابطًا.","لطفاً رضایت خود را تأیید کنید: ایمیلی با یک لینک برایتان فرستاده‌ایم.","Veuillez confirmer votre accord : nous vous avons envoyé un e-mail avec un lien.","مهرباني وکړئ خپله رضایت تایید کړئ: موږ تاسو ته د یوې لینک سره برېښنالیک لېږلی دی."],
  "preferences.down": ["We can’t reach your choices at the moment. Please try again in a few minutes.","يتعذر الوصول إلى اختياراتك الآن. يُرجى المحاولة مجددًا بعد بضع دقائق.","اکنون دسترسی به انتخاب‌های شما ممکن نیست. لطفاً چند دقیقه بعد دوباره تلاش کنید.","Vos choix sont inaccessibles pour le moment. Veuillez réessayer dans quelques minutes.","همدا اوس ستاسو ټاکنو ته لاسرسی نشته. مهرباني وکړئ څو دقیقې وروسته بیا هڅه وکړئ."],
  "choices_title": ["What you want to hear","ما الذي تريد تلقّيه","چه پیام‌هایی می‌خواهید","Ce que vous souhaitez recevoir","کوم پیغامونه غواړئ"],
  "consent_note": ["Only with your consent. You can take it back at any time.","بموافقتك فقط، ويمكنك سحبها في أي وقت.","تنها با رضایت شما؛ هر وقت بخواهید می‌توانید آن را پس بگیرید.","Seulement avec votre accord, que vous pouvez retirer à tout moment.","یوازې ستاسو په رضایت؛ هر وخت یې بېرته اخیستلای شئ."],
  "always_note": ["You always get these.","تصلك هذه الرسائل دائمًا.","این پیام‌ها همیشه به شما می‌رسد.","Vous les recevez toujours.","دا پیغامونه تل دررسېږي."],
  "all_off": ["Unsubscribe from everything","إلغاء الاشتراك من كل شيء","لغو اشتراک از همه","Me désabonner de tout","له هر څه ګډون لغوه کول"],
  "saved": ["Your choices are saved.","تم حفظ اختياراتك.","انتخاب‌های شما ذخیره شد.","Vos choix sont enregistrés.","ستاسو انتخابونه خوندي شول."],
  "channel.email": ["Email","البريد الإلكتروني","ایمیل","E-mail","برېښنالیک"],
  "channel.sms": ["Text message","رسالة نصية","پیامک","SMS","لنډ پیغام"],
  "channel.whatsapp": ["WhatsApp","واتساب","واتساپ","WhatsApp","واټساپ"],
  "channel.telegram": ["Telegram","تيليغرام","تلگرام","Telegram","ټیلیګرام"],
  "channel.viber": ["Viber","فايبر","وایبر","Viber","وایبر"],
  "channel.voice": ["Phone call","مكالمة هاتفية","تماس تلفنی","Appel téléphonique","ټیلیفوني اړیکه"],
  "channel.push": ["Notification on my device","إشعار على جهازي","اعلان در دستگاه من","Notification sur mon appareil","زما په وسیله کې خبرتیا"],
  "channel.inapp": ["In the app","داخل التطبيق","در برنامه","Dans l’application","په اپلیکېشن کې"],
};
/* texts:end */

const AT = "/preferences";
/** Another tab, or a page of preferences, has changed them: they are read again, and the choice is made from there. */
const STALE = 412;

const STYLE = `
.preferences { display: flex; flex-direction: column; flex: 1; min-height: 0; overflow-y: auto; overscroll-behavior: contain; padding-block-end: 64px; scroll-padding-block: 64px 76px; }
.preferences header { position: sticky; top: 0; z-index: 1; padding-inline-start: 8px; background: var(--paper); border-block-end: 1px solid var(--line); }
.preferences h2 { padding-inline-end: 8px; }
.preferences .banner { flex: none; }
.preferences fieldset { min-width: 0; margin: 0; padding: 14px 16px 6px; border: 0; border-block-end: 1px solid var(--line); }
.preferences legend { float: inline-start; width: 100%; padding: 0; font-weight: 600; overflow-wrap: anywhere; }
.preferences fieldset p { clear: both; margin: 0; color: var(--soft); font-size: .9em; }
.preferences fieldset p:last-child { padding-block-end: 8px; }
.choices { clear: both; display: flex; flex-wrap: wrap; column-gap: 24px; }
.choices label { display: inline-flex; align-items: center; gap: 10px; min-width: 44px; min-height: 44px; cursor: pointer; }
.choices input { appearance: none; flex: none; position: relative; width: 38px; height: 22px; margin: 0; border: 2px solid var(--soft); border-radius: 11px; background: var(--paper); cursor: pointer; }
.choices input::before { content: ""; position: absolute; inset-block: 2px; inset-inline-start: 2px; width: 14px; border-radius: 50%; background: var(--soft); }
.choices input:checked { border-color: var(--a); background: var(--a); }
.choices input:checked::before { inset-inline-start: 18px; background: var(--on-a); }
.choices input:focus-visible { outline-offset: 2px; }
.preferences .arrow:dir(rtl) { transform: scaleX(-1); }
.preferences .none { align-self: start; margin: 12px 16px; padding: 0 14px; border: 1px solid var(--line); color: var(--soft); }
@media (prefers-reduced-motion: no-preference) { .choices input::before { transition: inset-inline-start .12s; } }
@media (forced-colors: active) { .choices input::before { background: ButtonText; } .choices input:checked::before { background: Highlight; } }
`;

let sheet;

/** Opens them in the panel, in the place of the list; `host` is the element, `inbox` what its tabs share. */
export function preferences({ host, root, parts, inbox, h, told, language, category }) {
  const word = (key) => TEXTS[key][LANGUAGES.indexOf(language)];
  if (root.querySelector(".preferences")) return;
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
  }
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];

  let view = null;
  /** What was chosen and is not saved yet: it is shown over what the server has said. */
  const pending = [];
  const boxes = new Map();
  let working = Promise.resolve();

  const heading = h("h2", { id: "preferences-heading", part: "heading", tabindex: "-1" }, word("choices_title"));
  const back = h("button", { type: "button", part: "button back", title: word("preferences.back"), "aria-label": word("preferences.back"), onclick: () => leave() }, arrow());
  const note = h("p", { class: "banner", part: "banner", role: "status", hidden: true });
  const list = h("div", { "aria-busy": "true" }, h("p", { class: "empty" }, word("loading")));
  const none = h("button", { type: "button", class: "none", part: "none", hidden: true, onclick: () => choose({ everything_off: true }) }, word("all_off"));
  const section = h(
    "section",
    { class: "preferences", part: "preferences", "aria-labelledby": "preferences-heading", onkeydown: (event) => key(event) },
    h("header", { part: "header" }, back, heading),
    note,
    list,
    none,
  );
  // With another person's token these are not theirs any more.
  section.leave = () => leave(false);
  const covered = [...parts.panel.children].filter((one) => one !== parts.toast && !one.hidden);
  const toggled = () => leave(false);
  host.addEventListener("tidings-toggle", toggled);
  for (const one of covered) one.hidden = true;
  parts.panel.insertBefore(section, parts.toast);
  heading.focus();
  load().catch(unwell);

  function key(event) {
    if (event.key !== "Escape") return;
    // The popover stays open: they go back to where they came from.
    event.preventDefault();
    leave();
  }

  function leave(focus = true) {
    host.removeEventListener("tidings-toggle", toggled);
    section.remove();
    for (const one of covered) one.hidden = false;
    told("list");
    told("state");
    if (focus) parts.panel.querySelector('[part~="settings"]')?.focus();
  }

  async function load() {
    if (!inbox) throw Object.assign(new Error("no_token"), { code: "no_token", status: 0 });
    show(await inbox.call(`${AT}?locale=${language}`));
  }

  /** Shows it at once and saves it after what was chosen before; what is refused is undone, with a sentence. */
  function choose(change) {
    pending.push(change);
    mark();
    working = working.then(async () => {
      try {
        await save(change);
        if (pending.length === 1) parts.heard.textContent = word("saved");
      } catch (error) {
        told("failed", error);
      }
      pending.splice(pending.indexOf(change), 1);
      mark();
    });
  }

  async function save(change, again = false) {
    try {
      const headers = { "if-match": `"v${view.version}"` };
      show(await inbox.call(`${AT}?locale=${language}`, { method: "PATCH", body: change, headers }));
    } catch (error) {
      if (error.status !== STALE || again) throw error;
      await load();
      await save(change, true);
    }
  }

  function unwell(error) {
    list.replaceChildren();
    list.setAttribute("aria-busy", "false");
    tell(word("preferences.down"));
    told("error", error);
  }

  function tell(text) {
    note.hidden = !text;
    note.textContent = text;
  }

  /** What the server says. Rows are made anew only where there are others, so that the focus stays. */
  function show(said) {
    const shape = ({ channels, categories }) => JSON.stringify([channels, categories.map(({ channels: _, ...row }) => row)]);
    const same = view && shape(view) === shape(said);
    view = said;
    if (!same) {
      boxes.clear();
      list.replaceChildren(...view.categories.map(row));
      list.setAttribute("aria-busy", "false");
    }
    mark();
  }

  function row({ category: name, name: called, locked, needs_consent: consent, channels }) {
    const label = called ?? category(name);
    const about = locked ? "always_note" : consent && "consent_note";
    const id = `preference-${name}`;
    return h(
      "fieldset",
      { part: "category", "aria-describedby": about && id },
      h("legend", {}, label),
      about && h("p", { id }, word(about)),
      !locked && h("div", { class: "choices" }, ...view.channels.filter((channel) => channel in channels).map((channel) => box(name, channel))),
    );
  }

  function box(name, channel) {
    const input = h("input", { type: "checkbox", role: "switch", part: "switch" });
    input.addEventListener("change", () => choose({ categories: { [name]: { [channel]: input.checked } } }));
    boxes.set(`${name} ${channel}`, input);
    return h("label", {}, input, word(`channel.${channel}`));
  }

  /** Sets the boxes: what the server has said, and over it what is not saved yet. */
  function mark() {
    if (!view) return;
    const off = pending.some((one) => one.everything_off);
    for (const { category: name, channels } of view.categories) {
      for (const [channel, heard] of Object.entries(channels)) {
        const chosen = pending.map((one) => one.categories?.[name]?.[channel]).findLast((one) => one != null);
        const input = boxes.get(`${name} ${channel}`);
        if (input) input.checked = chosen ?? (heard && !off);
      }
    }
    const waits = view.consent_pending && word("preferences.pending");
    tell((view.everything_off && word("preferences.off")) || waits || "");
    const held = root.activeElement === none;
    none.hidden = off || view.everything_off || !boxes.size;
    // A button that goes must not take the focus with it.
    if (held && none.hidden) heading.focus();
  }
}

/** Points to where the list was: to the left, or to the right where that is the beginning. */
function arrow() {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "arrow");
  path.setAttribute("d", "m14.5 5l1.5 1.5L10.5 12l5.5 5.5l-1.5 1.5L7.5 12Z");
  svg.append(path);
  return svg;
}
