/**
 * <tidings-inbox>: the in-app inbox of Tidings as one web component, without dependencies or a build step.
 * SPDX-License-Identifier: Apache-2.0
 */

/* texts:begin; `make docs` writes them from ../translations */
const LANGUAGES = ["en","ar","fa","fr","ps"];
const TEXTS = {
  "title": ["Notifications","الإشعارات","اعلان‌ها","Notifications","خبرتیاوې"],
  "count": ["Unread: {n}","غير مقروءة: {n}","نخوانده: {n}","Non lues : {n}","نالوستي: {n}"],
  "all": ["All","الكل","همه","Toutes","ټول"],
  "unread": ["Unread","غير مقروءة","نخوانده","Non lues","نالوستي"],
  "snoozed": ["Later","لاحقًا","بعداً","Plus tard","وروسته"],
  "archive": ["Archive","الأرشيف","بایگانی","Archives","ارشیف"],
  "read_all": ["Mark all as read","تحديد الكل كمقروء","همه را خوانده نشان بده","Tout marquer comme lu","ټول لوستل شوي په نښه کړئ"],
  "all_read": ["All are marked as read.","تم تحديد الكل كمقروء.","همه خوانده شدند.","Tout est marqué comme lu.","ټول لوستل شوي په نښه شول."],
  "mark_read": ["Mark as read","تحديد كمقروءة","خوانده نشان بده","Marquer comme lue","لوستل شوې یې په نښه کړئ"],
  "mark_unread": ["Mark as unread","تحديد كغير مقروءة","نخوانده نشان بده","Marquer comme non lue","نالوستې یې په نښه کړئ"],
  "to_archive": ["Archive","أرشفة","بایگانی کن","Archiver","ارشیف ته یې ولېږئ"],
  "unarchive": ["Move back","إعادة من الأرشيف","برگردان","Remettre","بېرته یې راوړئ"],
  "archived": ["Archived.","تمت الأرشفة.","بایگانی شد.","Archivée.","ارشیف شوه."],
  "undo": ["Undo","تراجع","واگرد","Annuler","بېرته کول"],
  "snooze": ["Remind me later","ذكّرني لاحقًا","بعداً یادم بیاور","Me le rappeler plus tard","وروسته یې را په یاد کړئ"],
  "snooze_hour": ["In one hour","بعد ساعة","یک ساعت دیگر","Dans une heure","یو ساعت وروسته"],
  "snooze_evening": ["This evening","هذا المساء","امشب","Ce soir","نن ماښام"],
  "snooze_tomorrow": ["Tomorrow morning","صباح الغد","فردا صبح","Demain matin","سبا سهار"],
  "snooze_week": ["On Monday","يوم الاثنين","دوشنبه","Lundi","دوشنبې ته"],
  "comes_back": ["It comes back: {when}.","ستعود: {when}.","برمی‌گردد: {when}.","Elle revient : {when}.","بېرته راځي: {when}."],
  "choose": ["Choose what you hear","اختر ما يصلك","انتخاب کنید چه پیام‌هایی بیاید","Choisir vos messages","وټاکئ چې کوم پیغامونه درته راشي"],
  "close": ["Close","إغلاق","بستن","Fermer","تړل"],
  "more": ["Show more","عرض المزيد","بیشتر نشان بده","Afficher plus","نور وښایئ"],
  "loading": ["One moment …","لحظة …","یک لحظه …","Un instant …","یوه شېبه …"],
  "empty": ["You are all caught up","لا جديد لديك","همه را دیده‌اید","Vous êtes à jour","هر څه مو لیدلي دي"],
  "empty_more": ["New messages appear here by themselves.","ستظهر الرسائل الجديدة هنا تلقائيًا.","پیام‌های تازه خودبه‌خود این‌جا می‌آیند.","Les nouveaux messages apparaîtront ici.","نوي پیغامونه به پخپله دلته راشي."],
  "empty_archive": ["What you archive is kept here.","ما تؤرشفه يُحفظ هنا.","آنچه بایگانی می‌کنید این‌جا می‌ماند.","Ce que vous archivez est conservé ici.","هغه څه چې ارشیفوئ، دلته پاتې کېږي."],
  "important": ["Important","مهم","مهم","Important","مهم"],
  "offline": ["You are offline. What you do here is saved when you are back.","أنت غير متصل بالإنترنت. سيُحفظ ما تفعله هنا عند عودة الاتصال.","آفلاین هستید. کارهای شما پس از وصل شدن ثبت می‌شود.","Vous êtes hors ligne. Ce que vous faites ici sera enregistré à votre retour.","تاسو آفلاین یاست. هغه څه چې دلته کوئ، د نښلېدو پر مهال خوندي کېږي."],
  "unreachable": ["Messages can’t be reached right now. Trying again …","يتعذر الوصول إلى الرسائل الآن. تجري إعادة المحاولة …","اکنون دسترسی به پیام‌ها ممکن نیست. دوباره تلاش می‌شود …","Messages inaccessibles pour le moment. Nouvel essai …","همدا اوس پیغامونو ته لاسرسی نشته. بیا هڅه کېږي …"],
  "signed_out": ["Your session has ended. Please sign in again.","انتهت جلستك. يُرجى تسجيل الدخول مجددًا.","نشست شما تمام شد. لطفاً دوباره وارد شوید.","Votre session a expiré. Veuillez vous reconnecter.","ستاسو ناسته پای ته ورسېده. مهرباني وکړئ بیا ننوځئ."],
  "failed": ["That did not work, and was undone. Please try again.","لم ينجح ذلك وتم التراجع عنه. يُرجى المحاولة مجددًا.","انجام نشد و برگردانده شد. لطفاً دوباره تلاش کنید.","L’opération a échoué et a été annulée. Veuillez réessayer.","ونه شول او بېرته شول. مهرباني وکړئ بیا هڅه وکړئ."],
  "done": ["Done.","تم.","انجام شد.","C’est fait.","وشول."],
  "new_one": ["New message: {title}","رسالة جديدة: {title}","پیام تازه: {title}","Nouveau message : {title}","نوی پیغام: {title}"],
  "new_many": ["New messages: {n}","رسائل جديدة: {n}","پیام‌های تازه: {n}","Nouveaux messages : {n}","نوي پیغامونه: {n}"],
  "now": ["","","","","همدا اوس"],
  "minutes_ago": ["","","","","{n} دقیقې مخکې"],
  "hours_ago": ["","","","","{n} ساعته مخکې"],
  "days_ago": ["","","","","{n} ورځې مخکې"],
  "category.transactional": ["Orders and bookings","الطلبات والحجوزات","فرمایش‌ها و رزروها","Commandes et réservations","فرمایشونه او بکینګونه"],
  "category.operational": ["Service notices","إشعارات الخدمة","اطلاعیه‌های خدمات","Informations de service","د خدمتونو خبرتیاوې"],
  "category.security": ["Security","الأمان","امنیت","Sécurité","امنیت"],
  "category.reminder": ["Reminders","التذكيرات","یادآوری‌ها","Rappels","یادونې"],
  "category.marketing": ["News and offers","الأخبار والعروض","تازه‌ها و پیشنهادها","Nouveautés et offres","نوي خبرونه او وړاندیزونه"],
  "category.system": ["System","النظام","سیستم","Système","سیسټم"],
  "category.academic": ["Courses and studies","الدروس والدراسة","درس و تحصیل","Cours et études","لوست او زده‌کړې"],
  "category.billing": ["Bills and payments","الفواتير والمدفوعات","بل‌ها و پرداخت‌ها","Factures et paiements","بیلونه او تادیې"],
  "category.social": ["From other people","من أشخاص آخرين","از دیگران","De la part d’autres personnes","د نورو خلکو له خوا"],
  "category.compliance": ["Legal notices","إشعارات قانونية","اطلاعیه‌های قانونی","Mentions légales","قانوني خبرتیاوې"],
};
/* texts:end */

const RTL = new Set(["ar", "fa", "ps"]);
const PAGE = 20;
const MINUTE = 60_000;
/** Heartbeats come several times in this time: a stream that is silent for longer is dead. */
const SILENCE = MINUTE;
const POLL = 30_000;
const SLOWEST = MINUTE;
const TRIES = 5;
const UNDO = 8_000;
/** A stream that a proxy does not let through: the feed is asked for again and again instead. */
const NO_STREAM = new Set([400, 404, 405, 406, 501]);
const TRY_LATER = new Set([429, 502, 503, 504]);
const TABS = { all: "inbox", unread: "unread", snoozed: "snoozed", archive: "archived" };

const isArchived = (item) => Boolean(item.archived_at);
const isSnoozed = (item) => Boolean(item.snoozed_until);
const inView = (item) => !isArchived(item) && !isSnoozed(item);
const cameAt = ({ created_at, id }) => created_at + id;
const isUnread = (item) => !item.read_at && inView(item);
const isUnseen = (item) => !item.seen_at && inView(item);

function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value == null || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child != null && child !== false));
  return node;
}

const ICONS = {
  bell: "M12 22a2.5 2.5 0 0 0 2.4-2H9.6a2.5 2.5 0 0 0 2.4 2Zm7-6v-5a7 7 0 0 0-5.5-6.8V3.5a1.5 1.5 0 0 0-3 0v.7A7 7 0 0 0 5 11v5l-2 2v1h18v-1Z",
  read: "M12 7a5 5 0 1 1 0 10a5 5 0 0 1 0-10Zm0 2.2a2.8 2.8 0 1 0 0 5.6a2.8 2.8 0 0 0 0-5.6Z",
  unread: "M12 7a5 5 0 1 1 0 10a5 5 0 0 1 0-10Z",
  archive: "M3 4h18v5h-1v11H4V9H3Zm3 5v9h12V9Zm3 2h6v2H9Z",
  unarchive: "M3 4h18v5h-1v11H4V9H3Zm3 5v9h12V9Zm5 8v-3H8l4-4l4 4h-3v3Z",
  snooze: "M12 4a9 9 0 1 1 0 18a9 9 0 0 1 0-18Zm0 2.2a6.8 6.8 0 1 0 0 13.6a6.8 6.8 0 0 0 0-13.6Zm-1 2.3h2v4.2l2.8 1.7l-1 1.7l-3.8-2.3ZM5.3 1.7l1.4 1.6l-4 3.4l-1.4-1.5Zm13.4 0l4 3.5l-1.4 1.5l-4-3.4Z",
  settings: "M3 6h8a3 3 0 0 1 5.8 0H21v2h-4.2a3 3 0 0 1-5.6 0H3Zm0 10h4.2a3 3 0 0 1 5.6 0H21v2h-8.2a3 3 0 0 1-5.6 0H3Z",
  all: "m2 12l1.5-1.5l4.5 4.5l9-9L18.5 7.5L8 18Zm10 3l1.5-1.5l1.5 1.5l7-7l1.5 1.5L15 18Z",
  close: "m6.4 5l5.6 5.6L17.6 5L19 6.4L13.4 12l5.6 5.6l-1.4 1.4L12 13.4L6.4 19L5 17.6L10.6 12L5 6.4Z",
};

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** Only what leads to a page or a mail: never a script. */
function safeHref(text) {
  try {
    const url = new URL(text, document.baseURI);
    return /^(https?|mailto|tel):$/.test(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

const MARKS = /\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|`([^`]+)`|\[([^\]]+)\]\(([^()\s]+)\)/g;

/** Bold, italic, code and links of Markdown, as nodes; everything else is text, markup too. */
function marked(text) {
  const out = document.createDocumentFragment();
  let at = 0;
  for (const match of text.matchAll(MARKS)) {
    const [whole, bold, italic, code, label, url] = match;
    out.append(text.slice(at, match.index));
    at = match.index + whole.length;
    const href = url && safeHref(url);
    if (bold) out.append(h("strong", {}, bold));
    else if (italic) out.append(h("em", {}, italic));
    else if (code) out.append(h("code", {}, code));
    else out.append(href ? h("a", { href, rel: "noopener noreferrer", target: "_blank" }, label) : label);
  }
  out.append(text.slice(at));
  return out;
}

const jitter = (ms) => ms * (0.5 + Math.random() / 2);

/** Waits; shorter where the network comes back meanwhile. */
function pause(ms, signal) {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener("online", end);
      signal?.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, ms);
    addEventListener("online", end);
    signal?.addEventListener("abort", end);
  });
}

/** What was not done. `status` is 0 where there was no answer. */
class InboxError extends Error {
  constructor(status, code, wait = 0) {
    super(code);
    this.status = status;
    this.code = code;
    this.wait = wait;
  }
}

/** The person's token: asked for when it is first needed, and again shortly before it ends. */
class Tokens {
  #give;
  #asking;
  #until = 0;
  #token;

  constructor(give) {
    this.#give = give;
  }

  get() {
    if (this.#token && Date.now() < this.#until) return Promise.resolve(this.#token);
    this.#asking ??= this.#ask().finally(() => (this.#asking = null));
    return this.#asking;
  }

  drop(token = this.#token) {
    if (token === this.#token) this.#until = 0;
  }

  async #ask() {
    let given;
    try {
      given = await this.#give();
    } catch (error) {
      throw error instanceof InboxError ? error : new InboxError(0, "no_token");
    }
    this.#token = given?.token ?? given;
    if (typeof this.#token !== "string" || !this.#token) throw new InboxError(401, "no_token");
    // A clock that is wrong by an hour must not make us ask before every call.
    const ends = Date.parse(given.expires_at) - MINUTE / 2 || Infinity;
    this.#until = Math.max(ends, Date.now() + MINUTE / 6);
    return this.#token;
  }
}

class Api {
  constructor(base, tokens) {
    this.base = base;
    this.tokens = tokens;
  }

  async json(path, init) {
    const answer = await this.fetch(path, init);
    if (answer.status === 204) return {};
    try {
      return await answer.json();
    } catch {
      throw new InboxError(0, "unreadable");
    }
  }

  async fetch(path, { method = "GET", body, headers = {}, signal } = {}, again = false) {
    const token = await this.tokens.get();
    let answer;
    try {
      answer = await fetch(`${this.base}/api/v1/inbox${path}`, {
        method,
        signal,
        body: body && JSON.stringify(body),
        headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }), ...headers },
        credentials: "omit",
        cache: "no-store",
        referrerPolicy: "no-referrer",
      });
    } catch (error) {
      throw signal?.aborted ? error : new InboxError(0, "unreachable");
    }
    if (answer.ok) return answer;
    if (answer.status === 401 && !again) {
      this.tokens.drop(token);
      return this.fetch(path, { method, body, headers, signal }, true);
    }
    const problem = await answer.json().catch(() => ({}));
    const wait = 1000 * Number(answer.headers.get("retry-after")) || 0;
    throw new InboxError(answer.status, problem.code ?? "refused", wait);
  }
}

/** The messages of a stream (SSE); `alive` is called for whatever comes, heartbeats too. */
async function* messagesOf(body, alive) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let type = "";
  let data = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    alive();
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const [, name, text] = /^(\w*):? ?(.*?)\r?$/.exec(line) ?? [];
      if (name === "event") type = text;
      else if (name === "data") data += text;
      else if (name === "id") yield { id: text };
      else if (name === "retry") yield { retry: Number(text) };
      else if (!name && !line.startsWith(":")) {
        if (data) yield { message: { type, data: JSON.parse(data) } };
        type = data = "";
      }
    }
  }
}

/** One inbox: what the server has said, and what the person has just done. Tabs of one browser share a stream. */
class Inbox {
  items = [];
  unread = 0;
  unseen = 0;
  cursor = null;
  tab = "all";
  state = "connecting";
  loading = false;
  loaded = false;
  #api;
  #told;
  #queue = [];
  #working = null;
  #loading = null;
  #more = false;
  #turn = 0;
  #news = 0;
  #lastId = "";
  #retry = 1000;
  #channel;
  #end = new AbortController();

  constructor({ base, give, who, told }) {
    this.#api = new Api(base, new Tokens(give));
    this.#told = told;
    const name = `tidings-inbox ${base} ${who}`;
    const { signal } = this.#end;
    if (who && "BroadcastChannel" in globalThis) {
      this.#channel = new BroadcastChannel(name);
      this.#channel.onmessage = ({ data }) => this.#overhear(data);
    }
    // Locks are there in secure contexts alone; without them each tab has a stream of its own.
    if (this.#channel && navigator.locks) {
      navigator.locks.request(name, { signal }, () => this.#follow(signal)).catch(() => {});
    } else {
      this.#follow(signal);
    }
    addEventListener("offline", () => this.#setState("offline"), { signal });
    addEventListener("online", () => this.load(), { signal });
    this.load();
  }

  stop() {
    this.#end.abort();
    this.#channel?.close();
  }

  show(tab) {
    this.tab = tab;
    this.items = [];
    this.cursor = null;
    this.loaded = false;
    return this.load();
  }

  /** The first page of the tab, or one more. */
  load({ more = false } = {}) {
    if (this.loading) this.#more ||= more !== this.loading.more;
    if (more && (this.loading || !this.cursor)) return this.#loading ?? Promise.resolve();
    return (this.#loading = this.#load(more, ++this.#turn));
  }

  async #load(more, turn) {
    this.loading = { more };
    this.#told("list");
    try {
      await this.#working;
      const narrowed = TABS[this.tab] ? { view: TABS[this.tab] } : { category: this.tab };
      const query = new URLSearchParams({ limit: PAGE, ...narrowed, ...(more && { cursor: this.cursor }) });
      const news = this.#news;
      const page = await this.#api.json(`?${query}`);
      if (turn !== this.#turn) return;
      const known = new Set(more ? this.items.map(({ id }) => id) : []);
      this.items = [...(more ? this.items : []), ...page.items.filter(({ id }) => !known.has(id))];
      for (const { id, patch } of this.#queue) Object.assign(this.#find(id) ?? {}, patch);
      this.cursor = page.next_cursor;
      this.loaded = true;
      this.#count(page);
      // Something changed on the way: the page may be older.
      if (!more && news !== this.#news) setTimeout(() => this.load());
      if (!["live", "polling"].includes(this.state)) this.#setState("polling");
    } catch (error) {
      if (turn === this.#turn) this.#unwell(error);
    } finally {
      if (turn === this.#turn) {
        this.loading = false;
        this.#told("list");
        this.#more &&= !this.load({ more: true });
      }
    }
  }

  /** Does it here at once, and there as soon as may be; back it goes where it is refused. */
  change(shown, verb, patch, body) {
    const item = this.#find(shown.id) ?? shown;
    const before = Object.fromEntries(Object.keys(patch).map((name) => [name, item[name] ?? null]));
    this.#patch(item.id, patch, true, item);
    this.#enqueue({ id: item.id, path: `/${encodeURIComponent(item.id)}/${verb}`, body, patch, before, item });
  }

  readAll() {
    const now = new Date().toISOString();
    const category = TABS[this.tab] ? undefined : this.tab;
    const undo = { items: this.items.map((item) => ({ ...item })), unread: this.unread, unseen: this.unseen };
    for (const item of this.items) {
      if (isUnread(item)) Object.assign(item, { read_at: now, seen_at: item.seen_at ?? now });
    }
    if (!category) this.#setCounts({ unread: 0, unseen: 0 });
    this.#told("list");
    this.#enqueue({ path: "/read-all", body: category ? { category } : {}, undo, all: true });
  }

  see() {
    if (!this.unseen) return;
    const now = new Date().toISOString();
    for (const item of this.items) item.seen_at ??= now;
    this.#setCounts({ unseen: 0 });
    this.#enqueue({ path: "/see-all", quiet: true, all: true });
  }

  /** What an answer says of an item holds, here and in other tabs. */
  update(item) {
    this.#patch(item.id, item, true);
  }

  call(path, init) {
    return this.#api.json(path, init);
  }

  #find(id) {
    return this.items.find((item) => item.id === id);
  }

  #enqueue(change) {
    this.#queue.push(change);
    this.#working ??= this.#work().finally(() => (this.#working = null));
  }

  async #work() {
    for (let tries = 1; this.#queue.length && !this.#end.signal.aborted; ) {
      const change = this.#queue[0];
      const news = this.#news;
      try {
        const answer = await this.#api.json(change.path, { method: "POST", body: change.body });
        this.#queue.shift();
        tries = 1;
        // What was done meanwhile is newer.
        const known = !this.#queue.some(({ id }) => id === change.id) && this.#find(answer.item?.id);
        if (known) Object.assign(known, answer.item);
        // What was heard meanwhile may be newer than its counts.
        news === this.#news ? this.#count(answer) : this.load();
        this.#told("list");
        if (change.all) this.#shout({ refresh: true });
      } catch (error) {
        const away = error.status === 0 || TRY_LATER.has(error.status);
        if (away && (error.status === 0 || tries < TRIES)) {
          this.#unwell(error);
          await pause(error.wait || jitter(Math.min(SLOWEST, 1000 * 2 ** tries++)), this.#end.signal);
          continue;
        }
        this.#queue.shift();
        tries = 1;
        // What is gone is not brought back.
        error.status === 404 ? this.load() : this.#undo(change);
        if (!change.quiet) this.#told("failed", error);
      }
    }
  }

  #undo({ id, before, undo, item }) {
    if (before) return this.#patch(id, before, true, item);
    if (!undo) return;
    this.items = undo.items;
    this.#setCounts(undo);
    this.#told("list");
  }

  /** Changes an item here, and in the other tabs too where they do not know yet. */
  #patch(id, patch, shout, known) {
    this.#news++;
    const item = this.#find(id) ?? known;
    if (shout) this.#shout({ id, patch, item: item && { ...item } });
    if (!item) return;
    const [unread, unseen] = [isUnread(item), isUnseen(item)];
    Object.assign(item, patch);
    this.#setCounts({
      unread: this.unread + isUnread(item) - unread,
      unseen: this.unseen + isUnseen(item) - unseen,
    });
    this.#place(item);
    this.#told("list");
  }

  /** Where the tab shows such an item it stands at its time; else it goes. */
  #place(item) {
    const others = this.items.filter(({ id }) => id !== item.id);
    const found = others.length < this.items.length;
    // What was just read stays in the tab of the unread until that is opened again.
    if (!this.#shows(item) || (this.tab === "unread" && !found && item.read_at)) {
      this.items = others;
    } else if (!found) {
      const after = others.findIndex((one) => cameAt(one) < cameAt(item));
      if (after >= 0) others.splice(after, 0, item);
      else if (!this.cursor) others.push(item);
      this.items = others;
    }
  }

  #shows(item) {
    const fits = { archive: isArchived, snoozed: isSnoozed }[this.tab] ?? inView;
    return fits(item) && (this.tab in TABS || item.category === this.tab);
  }

  #setCounts({ unread = this.unread, unseen = this.unseen }) {
    const same = unread === this.unread && unseen === this.unseen;
    this.unread = Math.max(0, unread);
    this.unseen = Math.max(0, unseen);
    if (!same) this.#told("counts");
  }

  /** Counts of the server hold, unless something was done here that it has not heard of. */
  #count(counts) {
    if (!this.#queue.length && counts.unread != null) this.#setCounts(counts);
  }

  #setState(state) {
    if (state === this.state) return;
    this.state = state;
    this.#told("state");
  }

  #unwell(error) {
    if (error.name === "AbortError") return;
    if (error.status === 401 || error.status === 403) this.#setState("signed_out");
    else if (error.status === 0 || TRY_LATER.has(error.status)) {
      this.#setState(navigator.onLine ? "unreachable" : "offline");
    } else this.#setState("unreachable");
    this.#told("error", error);
  }

  #shout(message) {
    if (!this.#end.signal.aborted) this.#channel?.postMessage(message);
  }

  #overhear({ message, lastId, state, id, patch, item, refresh }) {
    if (lastId) this.#lastId = lastId;
    if (message) this.#hear(message);
    if (state) {
      this.#setState(state);
      if (!this.loaded && !this.loading) this.load();
    }
    if (patch) this.#patch(id, patch, false, item);
    if (refresh) this.load();
  }

  #hear({ type, data }) {
    if (type === "reset") this.load();
    else if (type !== "counts") this.#learn(type, data);
    else if (this.#queue.length) this.#news++;
    // What was done elsewhere: the feed has it.
    else if (data.unread !== this.unread || data.unseen !== this.unseen) this.load();
  }

  /** An item came, or is another now, or is no more; the counts come with it. */
  #learn(type, { item, item_id, removed, ...counts }) {
    this.#news++;
    const known = this.#find(item_id);
    // What was done here, and is not there yet, is newer.
    for (const { id, patch } of this.#queue) if (item && id === item_id) Object.assign(item, patch);
    if (removed) this.items = this.items.filter((one) => one !== known);
    else if (known) this.#patch(item_id, item, false);
    // New items come first, and what comes back is new.
    else if (type === "item" && this.#shows(item)) this.items = [item, ...this.items];
    else this.#place(item);
    this.#count(counts);
    if (type === "item" && !known && isUnread(item)) this.#told("new", item);
    this.#told("list");
  }

  /** The stream, or the feed asked for again and again where there is none; only one tab does this. */
  async #follow(signal) {
    for (let failures = 0; !signal.aborted; failures++) {
      let wait = 0;
      const silence = new AbortController();
      let timer;
      const alive = () => {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENCE);
      };
      try {
        alive();
        const headers = { accept: "text/event-stream", ...(this.#lastId && { "last-event-id": this.#lastId }) };
        const either = AbortSignal.any([signal, silence.signal]);
        const answer = await this.#api.fetch("/stream", { headers, signal: either });
        // What came between the page and the stream is in neither.
        if (!this.#lastId && this.loaded) this.load();
        failures = 0;
        this.#tellState("live");
        for await (const { message, id, retry } of messagesOf(answer.body, alive)) {
          if (id) this.#lastId = id;
          if (retry) this.#retry = retry;
          // With a token that has ended, or was voided, the next stream does not open.
          if (message?.type === "end") this.#api.tokens.drop();
          else if (message) {
            this.#shout({ message, lastId: this.#lastId });
            this.#hear(message);
          }
        }
      } catch (error) {
        if (signal.aborted) return;
        if (NO_STREAM.has(error.status)) {
          this.#tellState("polling");
          await this.load();
          wait = jitter(POLL);
        } else {
          this.#unwell(error);
          this.#shout({ state: this.state });
        }
        wait = error.wait || wait;
      } finally {
        clearTimeout(timer);
      }
      await pause(wait || jitter(Math.min(SLOWEST, this.#retry * 2 ** failures)), signal);
    }
  }

  #tellState(state) {
    this.#setState(state);
    this.#shout({ state });
  }
}

const STYLE = `
:host { --a: var(--tidings-accent, light-dark(#0b5cad, #7ab8ff)); --on-a: var(--tidings-on-accent, light-dark(#fff, #0d1117));
  --ink: var(--tidings-text, light-dark(#1c2430, #e8ecf1)); --soft: var(--tidings-muted, light-dark(#566172, #a5b0bf));
  --paper: var(--tidings-background, light-dark(#fff, #171d26)); --tint: var(--tidings-tint, light-dark(#eef4fb, #1f2b3b));
  --line: var(--tidings-border, light-dark(#dbe1e8, #323d4b)); --badge: var(--tidings-badge, light-dark(#c4211b, #ff8f85));
  --on-badge: var(--tidings-on-badge, light-dark(#fff, #1d0503)); --round: var(--tidings-radius, 12px);
  display: inline-block; color-scheme: light dark; color: var(--ink);
  font: var(--tidings-font, 15px/1.45 system-ui, "Noto Sans", "Noto Sans Arabic", Tahoma, sans-serif); }
:host([theme="light"]) { color-scheme: light; }
:host([theme="dark"]) { color-scheme: dark; }
:host([view="page"]) { display: block; }
:host([hidden]), [hidden] { display: none !important; }
* { box-sizing: border-box; }
button { font: inherit; color: inherit; background: none; border: 0; margin: 0; padding: 0; cursor: pointer; min-width: 44px; min-height: 44px; border-radius: 8px; }
button:hover { background: var(--tint); }
:focus-visible { outline: 2px solid var(--a); outline-offset: -2px; }
svg { width: 22px; height: 22px; fill: currentColor; display: block; margin: auto; }
a { color: var(--a); }
.bell { position: relative; border-radius: 50%; }
.bell svg { width: 26px; height: 26px; }
.badge { position: absolute; inset-block-start: 2px; inset-inline-start: 22px; min-width: 20px; height: 20px; padding: 0 5px; border-radius: 10px;
  background: var(--badge); color: var(--on-badge); font-size: 12px; font-weight: 700; line-height: 20px; text-align: center; }
.panel { display: flex; flex-direction: column; color: var(--ink); background: var(--paper); text-align: start; overflow: hidden; margin: 0; padding: 0; position: relative; }
.bell ~ .panel { position: fixed; inset: auto; z-index: 2147483000; width: min(420px, 100vw - 16px); border: 1px solid var(--line); border-radius: var(--round); box-shadow: 0 12px 40px rgb(0 0 0 / .22); }
.bell ~ .panel.sheet { inset: 0; width: 100%; max-width: none; height: 100%; max-height: none; border: 0; border-radius: 0; }
:host([view="page"]) .panel { border: 1px solid var(--line); border-radius: var(--round); min-height: 20em; }
header a { display: grid; width: 44px; height: 44px; color: inherit; }
header { display: flex; align-items: center; padding: 6px 8px; padding-inline-start: 16px; gap: 2px; }
h2 { margin: 0; font-size: 1.15em; flex: 1; min-width: 0; overflow-wrap: anywhere; }
h2:focus { outline: 0; }
.tabs { display: flex; gap: 4px; padding: 0 12px 8px; overflow-x: auto; scrollbar-width: none; border-block-end: 1px solid var(--line); flex: none; }
.tabs button { padding: 0 12px; white-space: nowrap; color: var(--soft); flex: none; }
.tabs [aria-selected="true"] { color: var(--a); font-weight: 600; box-shadow: inset 0 -3px var(--a); border-end-start-radius: 0; border-end-end-radius: 0; }
.banner { margin: 0; padding: 10px 16px; background: light-dark(#fdf3dc, #3a2f12); color: light-dark(#5c4308, #f6e3b4); }
.scroll { overflow-y: auto; overscroll-behavior: contain; flex: 1; min-height: 0; }
article { position: relative; display: grid; grid-template-columns: auto 1fr; column-gap: 12px; padding-block: 12px 4px; padding-inline: 26px 14px; border-block-end: 1px solid var(--line); cursor: default; overflow-wrap: anywhere; }
article.link { cursor: pointer; }
article:hover { background: color-mix(in srgb, var(--tint) 50%, transparent); }
article.unread { background: var(--tint); }
article.unread::before { content: ""; position: absolute; inset-block-start: 19px; inset-inline-start: 10px; width: 9px; height: 9px; border-radius: 50%; background: var(--a); }
article h3 { margin: 0; font-size: 1em; font-weight: 500; grid-column: 2; }
article.unread h3 { font-weight: 650; }
article h3 a { color: inherit; text-decoration: none; }
article > img { grid-row: 1 / span 3; width: 44px; height: 44px; border-radius: 8px; object-fit: cover; }
.body { grid-column: 2; color: var(--soft); white-space: pre-line; }
.body:empty { display: none; }
.actions { grid-column: 2; display: flex; flex-wrap: wrap; gap: 8px; padding-block: 8px 4px; }
.actions button, .toast button, .more { border: 1px solid var(--line); padding: 0 14px; background: var(--paper); font-weight: 600; color: var(--a); }
.actions button:disabled { opacity: .6; cursor: default; }
.actions button[aria-pressed="true"]::before { content: "✓ "; }
.actions button:first-child { background: var(--a); color: var(--on-a); border-color: var(--a); }
.foot { grid-column: 2; display: flex; align-items: center; color: var(--soft); font-size: .87em; min-height: 44px; margin-block-start: -4px; }
.foot > span { flex: 1; min-width: 0; }
.high { color: var(--badge); font-weight: 600; }
.tools { display: flex; flex: none; margin-inline-end: -10px; }
.tools button:hover { background: var(--line); }
@media (hover: hover) { .tools { opacity: 0; } article:hover .tools, article:focus .tools, article:focus-within .tools { opacity: 1; } }
.more { display: block; margin: 12px auto; }
.empty { padding: 48px 24px; text-align: center; color: var(--soft); }
.empty svg { width: 48px; height: 48px; opacity: .5; margin-block-end: 12px; }
.empty b { display: block; color: var(--ink); font-size: 1.05em; }
.toast { position: absolute; inset-inline: 12px; inset-block-end: 12px; display: flex; align-items: center; gap: 12px; padding-block: 6px; padding-inline: 16px 6px; min-height: 56px; border-radius: 10px; background: var(--ink); color: var(--paper); box-shadow: 0 6px 20px rgb(0 0 0 / .25); }
.toast span { flex: 1; }
.toast button { background: none; border-color: currentColor; color: inherit; }
.menu { position: absolute; z-index: 1; inset-inline-end: 14px; min-width: 200px; padding: 6px; background: var(--paper); border: 1px solid var(--line); border-radius: 10px; box-shadow: 0 8px 24px rgb(0 0 0 / .2); }
.menu button { display: flex; align-items: center; justify-content: space-between; gap: 16px; width: 100%; padding: 0 12px; text-align: start; white-space: nowrap; }
.menu small { color: var(--soft); }
.heard { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (prefers-reduced-motion: no-preference) {
  .bell ~ .panel { animation: appear .14s ease-out; }
  .tools { transition: opacity .1s; }
  @keyframes appear { from { opacity: 0; transform: translateY(-6px); } }
}
@media (forced-colors: active) { .badge, article.unread::before { border: 1px solid; } }
`;

let sheet;

/** Of `billing, social=From friends`: pairs of a category and its name. */
function pairs(text) {
  const named = (text ?? "").split(",").map((part) => part.split("=").map((word) => word.trim()));
  return named.filter(([name]) => name);
}

/** When a snoozed item may come back, in their own time. */
function snoozes(now = new Date()) {
  const at = (days, hour) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
  return [
    ["snooze_hour", new Date(+now + 60 * MINUTE)],
    now.getHours() < 17 && ["snooze_evening", at(0, 18)],
    ["snooze_tomorrow", at(1, 9)],
    ["snooze_week", at(((8 - now.getDay()) % 7) || 7, 9)],
  ].filter(Boolean);
}

const Base = globalThis.HTMLElement ?? class {};

export class TidingsInbox extends Base {
  static observedAttributes = ["base-url", "token", "token-url", "subscriber", "lang", "dir", "view", "categories", "preferences-url"];

  #provider = null;
  #inbox = null;
  #root;
  #parts = {};
  #nodes = new Map();
  #open = false;
  #current = null;
  #heard = [];
  #saidAt = 0;
  #ticking;
  #clickedOutside;
  #starting = 0;
  #watched;
  #asked;
  #early = false;

  constructor() {
    super();
    this.#root = this.attachShadow({ mode: "open" });
  }

  connectedCallback() {
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(STYLE);
    }
    this.#root.adoptedStyleSheets = [sheet];
    if (Object.hasOwn(this, "tokenProvider")) {
      // Set before the script was there.
      const given = this.tokenProvider;
      delete this.tokenProvider;
      this.#provider = given;
    }
    this.#clickedOutside = (event) => {
      if (!event.composedPath().includes(this)) this.#toggle(false, false);
    };
    document.addEventListener("pointerdown", this.#clickedOutside);
    this.#ticking = setInterval(() => this.#tick(), MINUTE / 2);
    this.#build();
    this.#start();
  }

  disconnectedCallback() {
    document.removeEventListener("pointerdown", this.#clickedOutside);
    clearInterval(this.#ticking);
    this.#inbox?.stop();
    this.#inbox = null;
  }

  attributeChangedCallback(name, before, after) {
    if (before === after || !this.isConnected || !sheet) return;
    if (/^(lang|dir|view|categories|preferences-url)$/.test(name)) this.#build();
    else this.#start();
  }

  get tokenProvider() {
    return this.#provider;
  }

  set tokenProvider(give) {
    this.#provider = give;
    if (this.isConnected) this.#start();
  }

  get unread() {
    return this.#inbox?.unread ?? 0;
  }

  get unseen() {
    return this.#inbox?.unseen ?? 0;
  }

  get items() {
    return structuredClone(this.#inbox?.items ?? []);
  }

  open() {
    this.#toggle(true);
  }

  close() {
    this.#toggle(false);
  }

  refresh() {
    return this.#inbox?.load() ?? Promise.resolve();
  }

  readAll() {
    this.#inbox?.readAll();
  }

  /** What they hear, and where: loaded when asked for. */
  async showPreferences() {
    const told = (what, detail) => this.#told(what, detail);
    this.#toggle(true);
    try {
      const { preferences } = await import("./tidings-inbox-preferences.js");
      preferences({ host: this, root: this.#root, parts: this.#parts, inbox: this.#inbox, h, told, language: this.#language, category: (name) => this.#category(name) });
    } catch {
      told("failed", new InboxError(0, "unreachable"));
    }
  }

  get #base() {
    const script = new URL("..", import.meta.url);
    return new URL(this.getAttribute("base-url") ?? script, document.baseURI).href.replace(/\/+$/, "");
  }

  #give() {
    const fixed = this.getAttribute("token");
    const url = this.getAttribute("token-url");
    if (this.#provider) return () => this.#provider();
    if (fixed) return async () => fixed;
    if (!url) return null;
    return async () => {
      const answer = await fetch(url, { method: "POST", headers: { accept: "application/json" } });
      if (!answer.ok) throw new InboxError(answer.status, "no_token");
      return answer.json();
    };
  }

  /** Once for all that is set in one go. */
  async #start() {
    const turn = ++this.#starting;
    await null;
    if (turn !== this.#starting || !this.isConnected) return;
    this.#inbox?.stop();
    this.#inbox = null;
    this.#nodes.clear();
    this.#root.querySelector(".preferences")?.leave();
    const give = this.#give();
    if (give) {
      const told = (what, detail) => this.#told(what, detail);
      this.#inbox = new Inbox({ base: this.#base, give, who: this.getAttribute("subscriber"), told });
    }
    this.#refreshAll();
  }

  get #locale() {
    return this.closest("[lang]")?.lang || navigator.language || "en";
  }

  get #language() {
    const language = this.#locale.split("-")[0].toLowerCase();
    return LANGUAGES.includes(language) ? language : "en";
  }

  /** What a browser does not know is written as its neighbour has it. */
  get #format() {
    const language = this.#language;
    if (language === "ps" && !Intl.NumberFormat.supportedLocalesOf("ps").length) return "fa-AF";
    return this.#locale.startsWith(language) ? this.#locale : language;
  }

  #word(key, values = {}) {
    return TEXTS[key][LANGUAGES.indexOf(this.#language)].replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
  }

  #number(number) {
    return new Intl.NumberFormat(this.#format).format(number);
  }

  #ago(text) {
    const minutes = Math.round((Date.parse(text) - Date.now()) / MINUTE);
    const [amount, unit] =
      minutes > -60 ? [minutes, "minute"] : minutes > -1440 ? [Math.round(minutes / 60), "hour"] : [Math.round(minutes / 1440), "day"];
    if (amount < -6 && unit === "day") return this.#moment(text, { dateStyle: this.#language === "ps" ? "short" : "medium" });
    if (Intl.RelativeTimeFormat.supportedLocalesOf(this.#language).length) {
      const said = new Intl.RelativeTimeFormat(this.#format, { numeric: "auto", style: "short" });
      return amount >= 0 ? said.format(0, "second") : said.format(amount, unit);
    }
    return amount >= 0 ? this.#word("now") : this.#word(`${unit}s_ago`, { n: this.#number(-amount) });
  }

  #moment(text, style = { dateStyle: "medium", timeStyle: "short" }) {
    return new Intl.DateTimeFormat(this.#format, style).format(new Date(text));
  }

  #category(name) {
    const named = pairs(this.getAttribute("categories")).find(([known]) => known === name);
    const ours = `category.${name}`;
    return named?.[1] ?? (ours in TEXTS ? this.#word(ours) : name.replaceAll("_", " "));
  }

  #button(name, label, does, more = {}) {
    const what = more.href ? {} : { type: "button", onclick: does };
    return h(more.href ? "a" : "button", { part: `button ${name}`, title: label, "aria-label": label, ...what, ...more }, icon(name));
  }

  #build() {
    const word = (key) => this.#word(key);
    const paged = this.getAttribute("view") === "page";
    const asked = this.closest("[dir]")?.getAttribute("dir");
    const dir = this.getAttribute("dir") || (RTL.has(this.#language) ? "rtl" : asked === "rtl" && !this.closest("[lang]") ? "rtl" : "ltr");
    const parts = (this.#parts = {});
    parts.badge = h("span", { part: "badge", class: "badge", "aria-hidden": "true" });
    parts.bell = h(
      "button",
      { type: "button", part: "bell", class: "bell", "aria-haspopup": "dialog", "aria-controls": "panel", onclick: () => this.#toggle(!this.#open) },
      icon("bell"),
      parts.badge,
    );
    parts.heading = h("h2", { id: "heading", part: "heading", tabindex: "-1" }, word("title"));
    parts.readAll = this.#button("all", word("read_all"), () => this.#readAll());
    parts.close = this.#button("close", word("close"), () => this.#toggle(false));
    parts.tabs = h("div", { class: "tabs", part: "tabs", role: "tablist", "aria-labelledby": "heading", onkeydown: (event) => this.#moveTab(event) });
    for (const [name, label] of [
      ["all", word("all")],
      ["unread", word("unread")],
      ...pairs(this.getAttribute("categories")).map(([name]) => [name, this.#category(name)]),
      ["snoozed", word("snoozed")],
      ["archive", word("archive")],
    ]) {
      parts.tabs.append(
        h("button", { type: "button", role: "tab", part: "tab", id: `tab-${name}`, "data-tab": name, "aria-controls": "list", onclick: () => this.#show(name) }, label),
      );
    }
    parts.banner = h("p", { class: "banner", part: "banner", role: "status", hidden: true });
    parts.list = h("div", { id: "feed", role: "feed", "aria-labelledby": "heading", onkeydown: (event) => this.#key(event) });
    parts.empty = h("div", { class: "empty", part: "empty", hidden: true });
    parts.more = h("button", { type: "button", class: "more", part: "more", hidden: true, onclick: () => this.#inbox?.load({ more: true }) }, word("more"));
    parts.scroll = h("div", { id: "list", class: "scroll", part: "list", role: "tabpanel", tabindex: "-1" }, parts.list, parts.empty, parts.more);
    parts.toast = h("div", { class: "toast", part: "toast", hidden: true });
    parts.heard = h("div", { class: "heard", role: "status" });
    parts.alert = h("div", { class: "heard", role: "alert" });
    const own = this.getAttribute("preferences-url");
    const choose = this.#button("settings", word("choose"), () => this.showPreferences(), { href: own && safeHref(own) });
    const head = h("header", { part: "header" }, parts.heading, parts.readAll, choose, !paged && parts.close);
    parts.panel = h(
      paged ? "section" : "div",
      { id: "panel", class: "panel", part: "panel", "aria-labelledby": "heading", ...(!paged && { role: "dialog", popover: "manual", hidden: true }) },
      head,
      parts.tabs,
      parts.banner,
      parts.scroll,
      parts.toast,
    );
    const whole = h("div", { dir, lang: this.#language }, !paged && parts.bell, parts.panel, parts.heard, parts.alert);
    whole.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.#open && !event.defaultPrevented) {
        event.stopPropagation();
        this.#toggle(false);
      }
    });
    whole.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget && relatedTarget !== this && !this.#root.contains(relatedTarget)) this.#toggle(false, false);
    });
    this.#watched?.disconnect();
    if ("IntersectionObserver" in globalThis) {
      this.#watched = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && this.#inbox?.load({ more: true }), {
        root: paged ? null : parts.scroll,
        rootMargin: "200px",
      });
      this.#watched.observe(parts.more);
    }
    this.#nodes.clear();
    this.#root.replaceChildren(whole);
    if (this.#open && !paged) this.#unfold();
    this.#refreshAll();
  }

  #refreshAll() {
    if (!this.#parts.list) return;
    this.#showCounts();
    this.#showState();
    this.#showList();
  }

  #told(what, detail) {
    if (what === "counts") {
      this.#showCounts();
      this.#emit("tidings-unread", { unread: this.unread, unseen: this.unseen });
    } else if (what === "state") this.#showState();
    else if (what === "list") this.#showList();
    else if (what === "new") this.#announce(detail);
    else {
      if (what === "failed") this.#toast(this.#word("failed"), null, true);
      this.#emit("tidings-error", { code: detail.code, status: detail.status });
    }
  }

  #emit(name, detail, cancelable = false) {
    return this.dispatchEvent(new CustomEvent(name, { detail, cancelable, bubbles: true, composed: true }));
  }

  #showCounts() {
    const { badge, bell, readAll } = this.#parts;
    const count = this.unread;
    const label = count ? `${this.#word("title")}. ${this.#word("count", { n: this.#number(count) })}` : this.#word("title");
    badge.textContent = count > 99 ? `${this.#number(99)}+` : this.#number(count);
    badge.hidden = !count;
    bell.setAttribute("aria-label", label);
    bell.setAttribute("aria-expanded", String(this.#open));
    readAll.hidden = !count;
  }

  #showState() {
    const state = this.#inbox?.state;
    const { banner } = this.#parts;
    banner.hidden = !/^(offline|unreachable|signed_out)$/.test(state);
    banner.textContent = banner.hidden ? "" : this.#word(state);
  }

  #showList() {
    const { list, empty, more, tabs } = this.#parts;
    const inbox = this.#inbox;
    const items = inbox?.items ?? [];
    const tab = inbox?.tab ?? "all";
    for (const one of tabs.children) {
      const chosen = one.dataset.tab === tab;
      one.setAttribute("aria-selected", String(chosen));
      one.tabIndex = chosen ? 0 : -1;
      if (chosen) this.#parts.scroll.setAttribute("aria-labelledby", one.id);
    }
    list.hidden = !items.length;
    const wanted = new Set(items.map(({ id }) => id));
    const lost = this.#focused();
    for (const [id, { node }] of this.#nodes) {
      if (!wanted.has(id)) {
        node.remove();
        this.#nodes.delete(id);
      }
    }
    items.forEach((item, index) => {
      const shape = JSON.stringify(item);
      const known = this.#nodes.get(item.id);
      if (known?.shape !== shape) {
        const node = this.#article(item);
        const held = known?.node.contains(this.#root.activeElement) && (this.#root.activeElement.dataset.do ?? "");
        known?.node.replaceWith(node);
        this.#nodes.set(item.id, { node, shape });
        if (held != null && held !== false) (node.querySelector(`[data-do="${held}"]`) ?? node).focus();
      }
      const { node } = this.#nodes.get(item.id);
      node.setAttribute("aria-posinset", index + 1);
      node.setAttribute("aria-setsize", inbox.cursor ? -1 : items.length);
      if (list.children[index] !== node) list.insertBefore(node, list.children[index] ?? null);
    });
    if (!wanted.has(this.#current)) this.#current = items[Math.min(lost ?? 0, items.length - 1)]?.id ?? null;
    for (const [id, { node }] of this.#nodes) node.tabIndex = id === this.#current ? 0 : -1;
    if (this.#early && items.length) {
      this.#early = false;
      if (this.#root.activeElement === this.#parts.heading) this.#nodes.get(this.#current)?.node.focus();
    }
    // Where the item that had the focus has gone, its neighbour gets it.
    if (lost != null && !this.#focused(true)) (this.#nodes.get(this.#current)?.node ?? this.#parts.scroll).focus();
    list.setAttribute("aria-busy", String(Boolean(inbox?.loading)));
    more.hidden = !inbox?.cursor;
    if (inbox?.cursor && inbox.cursor !== this.#asked) {
      // A page may hold few items: look for the end anew.
      this.#watched?.unobserve(more);
      this.#watched?.observe(more);
    }
    this.#asked = inbox?.cursor;
    empty.hidden = Boolean(items.length);
    if (!empty.hidden) this.#showNothing(tab);
    if (this.#shown && inbox?.loaded) inbox.see();
  }

  #showNothing(tab) {
    const { empty } = this.#parts;
    if (!this.#inbox?.loaded) return empty.replaceChildren(h("p", {}, this.#inbox?.state === "connecting" ? this.#word("loading") : ""));
    const text = tab === "archive" ? [this.#word("empty_archive")] : [h("b", {}, this.#word("empty")), this.#word("empty_more")];
    empty.replaceChildren(icon(tab === "archive" ? "archive" : "bell"), ...text);
  }

  get #shown() {
    return (this.#open || this.getAttribute("view") === "page") && !document.hidden;
  }

  /** The place in the list of the item that has the focus. */
  #focused(attached = false) {
    const at = this.#root.activeElement?.closest?.("article");
    if (!at || (attached && !at.isConnected)) return null;
    return [...this.#parts.list.children].indexOf(at);
  }

  #article(item) {
    const word = (key) => this.#word(key);
    const href = item.link && safeHref(item.link);
    const picture = item.picture && safeHref(item.picture);
    const dir = item.direction ?? "auto";
    const lang = item.locale;
    const unread = !item.read_at;
    const archived = isArchived(item);
    const id = `item-${item.id}`;
    const tool = (name, label, does) => this.#button(name, label, does, { "data-do": name });
    const title = href ? h("a", { href, part: "link", rel: "noopener", tabindex: "-1", onclick: (event) => this.#follow(event, item) }, item.title) : item.title;
    return h(
      "article",
      {
        part: `item ${unread ? "unread" : "read"}`,
        class: `${unread ? "unread" : ""} ${href ? "link" : ""}`,
        tabindex: "-1",
        "data-id": item.id,
        "aria-labelledby": `${id}-title`,
        "aria-describedby": `${id}-state ${id}-time`,
        onfocus: () => this.#hold(item.id),
        onclick: (event) => event.target.closest("a, button, .actions, .tools, .menu") || this.#go(item),
      },
      picture && h("img", { src: picture, alt: "", loading: "lazy", referrerpolicy: "no-referrer", part: "picture" }),
      h("h3", { id: `${id}-title`, part: "title", dir, lang }, title),
      h("div", { class: "body", part: "body", dir, lang }, item.body_html == null ? (item.body ?? "") : marked(item.body)),
      item.actions?.length > 0 && h("div", { class: "actions", part: "actions" }, ...item.actions.map((action) => this.#action(item, action))),
      h(
        "div",
        { class: "foot", part: "foot" },
        h(
          "span",
          {},
          h("span", { id: `${id}-state` }, unread && h("span", { class: "heard" }, `${word("unread")} `), /^(critical|high)$/.test(item.priority) && h("span", { class: "high" }, `${word("important")} · `)),
          h("time", { id: `${id}-time`, datetime: item.created_at, title: this.#moment(item.created_at) }, this.#ago(item.created_at)),
          item.category && ` · ${this.#category(item.category)}`,
        ),
        h(
          "div",
          { class: "tools", part: "tools" },
          !archived && tool(unread ? "read" : "unread", word(unread ? "mark_read" : "mark_unread"), () => this.#toggleRead(item)),
          !archived && tool("snooze", word("snooze"), (event) => this.#menu(item, event.currentTarget)),
          tool(archived ? "unarchive" : "archive", word(archived ? "unarchive" : "to_archive"), () => this.#archive(item)),
        ),
      ),
    );
  }

  #action(item, action) {
    return h(
      "button",
      {
        type: "button",
        part: "action",
        disabled: Boolean(item.acted),
        "aria-pressed": item.acted ? String(item.acted === action.name) : null,
        onclick: async () => {
          if (!this.#emit("tidings-action", { item: structuredClone(item), action: { ...action } }, true)) return;
          const href = action.url && safeHref(action.url);
          if (href) {
            this.#markRead(item);
            open(href, this.getAttribute("link-target") ?? "_self", "noopener");
          } else {
            await this.#inbox.call(`/${encodeURIComponent(item.id)}/actions/${encodeURIComponent(action.name)}`, { method: "POST" }).then(
              ({ item: changed }) => (this.#inbox.update(changed), this.#toast(this.#word("done"))),
              (error) => this.#told("failed", error),
            );
          }
        },
      },
      action.label,
    );
  }

  #toggle(wanted, backToBell = true) {
    if (this.getAttribute("view") === "page" || wanted === this.#open) return;
    const { panel, bell } = this.#parts;
    this.#open = wanted;
    if (wanted) {
      this.#unfold();
      this.#current = this.#inbox?.items[0]?.id ?? null;
      this.#showList();
      (this.#nodes.get(this.#current)?.node ?? this.#parts.heading).focus();
      // Opened before the items came: the first gets the focus.
      this.#early = !this.#current;
    } else {
      panel.hidePopover?.();
      panel.hidden = true;
      this.#closeMenu();
      if (backToBell) bell.focus();
    }
    this.#showCounts();
    this.#emit("tidings-toggle", { open: wanted });
  }

  /** Below the bell where there is room; a sheet on a telephone. */
  #unfold() {
    const { panel, bell } = this.#parts;
    panel.hidden = false;
    panel.showPopover?.();
    const small = innerWidth < 500;
    panel.classList.toggle("sheet", small);
    if (small) return panel.removeAttribute("style");
    const place = bell.getBoundingClientRect();
    const below = innerHeight - place.bottom - 16;
    const above = place.top - 16;
    const height = Math.min(640, Math.max(below, above));
    const width = panel.offsetWidth;
    const rtl = getComputedStyle(this.#parts.panel).direction === "rtl";
    const start = place.left + width <= innerWidth - 8 ? place.left : place.right - width;
    const left = rtl ? (place.right - width >= 8 ? place.right - width : place.left) : start;
    panel.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
    panel.style.height = `${height}px`;
    panel.style.top = `${below >= above || below > 400 ? place.bottom + 8 : Math.max(8, place.top - height - 8)}px`;
  }

  #show(tab) {
    this.#current = null;
    this.#parts.scroll.scrollTop = 0;
    this.#root.getElementById(`tab-${tab}`).scrollIntoView({ block: "nearest", inline: "center" });
    this.#inbox?.show(tab);
    this.#showList();
  }

  #moveTab(event) {
    const tabs = [...this.#parts.tabs.children];
    const at = tabs.indexOf(this.#root.activeElement);
    const on = this.#parts.panel.matches(":dir(rtl)") ? -1 : 1;
    const to = { ArrowRight: at + on, ArrowLeft: at - on, Home: 0, End: tabs.length - 1 }[event.key];
    if (to == null || at < 0) return;
    event.preventDefault();
    const tab = tabs[(to + tabs.length) % tabs.length];
    tab.focus();
    this.#show(tab.dataset.tab);
  }

  #hold(id) {
    this.#current = id;
    for (const [one, { node }] of this.#nodes) node.tabIndex = one === id ? 0 : -1;
  }

  #key(event) {
    const node = event.target.closest("article");
    if (!node || event.ctrlKey || event.metaKey || event.altKey || event.target.closest(".menu")) return;
    const items = this.#inbox.items;
    const at = items.findIndex(({ id }) => id === node.dataset.id);
    const item = items[at];
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
    const does = {
      r: () => this.#toggleRead(item),
      e: () => this.#archive(item),
      s: () => isArchived(item) || this.#menu(item, node.querySelector('[data-do="snooze"]')),
      ...(event.target === node && { Enter: () => this.#go(item) }),
    }[event.key];
    if (to == null && !does) return;
    event.preventDefault();
    if (does) return does();
    if (to >= items.length - 1) this.#inbox.load({ more: true });
    const next = items[Math.max(0, Math.min(to, items.length - 1))];
    this.#nodes.get(next.id).node.focus();
  }

  #markRead(item) {
    if (item.read_at) return;
    const now = new Date().toISOString();
    this.#inbox.change(item, "read", { read_at: now, seen_at: item.seen_at ?? now });
  }

  #toggleRead(item) {
    if (!item.read_at) this.#markRead(item);
    else this.#inbox.change(item, "unread", { read_at: null });
  }

  /** The app may show the item itself: then it prevents the default. */
  #follow(event, item) {
    const plain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.button);
    this.#markRead(item);
    if (!this.#emit("tidings-item-click", { item: structuredClone(item), href: event.currentTarget?.href ?? null }, true)) event.preventDefault();
    else if (plain && this.hasAttribute("link-target")) {
      event.preventDefault();
      open(safeHref(item.link), this.getAttribute("link-target"), "noopener");
    }
    if (plain) this.#toggle(false);
  }

  #go(item) {
    const href = item.link ? safeHref(item.link) : null;
    this.#markRead(item);
    if (!this.#emit("tidings-item-click", { item: structuredClone(item), href }, true) || !href) return;
    this.#toggle(false);
    open(href, this.getAttribute("link-target") ?? "_self", "noopener");
  }

  #archive(item) {
    const now = new Date().toISOString();
    if (isArchived(item)) return this.#inbox.change(item, "unarchive", { archived_at: null });
    this.#inbox.change(item, "archive", { archived_at: now, snoozed_until: null });
    this.#toast(this.#word("archived"), () => this.#inbox.change(item, "unarchive", { archived_at: null }));
  }

  #readAll() {
    this.#inbox?.readAll();
    this.#parts.heading.focus();
    this.#toast(this.#word("all_read"));
  }

  #menu(item, button) {
    this.#closeMenu();
    const away = () => {
      this.#closeMenu();
      this.#root.querySelector(`article[data-id="${CSS.escape(item.id)}"]`)?.focus();
    };
    const choose = (until) => {
      away();
      const text = until.toISOString();
      this.#inbox.change(item, "snooze", { snoozed_until: text }, { until: text });
      const when = this.#moment(text, { weekday: "long", hour: "numeric", minute: "2-digit" });
      this.#toast(this.#word("comes_back", { when }), () => this.#inbox.change(item, "unsnooze", { snoozed_until: null }));
    };
    const menu = h(
      "div",
      {
        class: "menu",
        part: "menu",
        role: "menu",
        "aria-label": this.#word("snooze"),
        onkeydown: (event) => {
          const choices = [...menu.children];
          const at = choices.indexOf(this.#root.activeElement);
          const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
          if (event.key === "Escape") away();
          if (to != null) choices.at(to % choices.length).focus();
          if (to != null || event.key === "Escape") event.preventDefault();
        },
        onfocusout: ({ relatedTarget }) => menu.contains(relatedTarget) || this.#closeMenu(),
      },
      ...snoozes().map(([key, until]) =>
        h(
          "button",
          { type: "button", role: "menuitem", tabindex: "-1", onclick: () => choose(until) },
          this.#word(key),
          h("small", {}, this.#moment(until.toISOString(), { weekday: "short", hour: "numeric", minute: "2-digit" })),
        ),
      ),
    );
    const { panel } = this.#parts;
    panel.append(menu);
    const { top, height } = panel.getBoundingClientRect();
    menu.style.top = `${Math.max(8, Math.min(button.getBoundingClientRect().bottom - top, height - menu.offsetHeight - 8))}px`;
    this.#parts.menu = menu;
    menu.firstChild.focus();
  }

  #closeMenu() {
    const { menu } = this.#parts;
    this.#parts.menu = null;
    menu?.remove();
  }

  #toast(text, undo, alarming = false) {
    const { toast, heard, alert } = this.#parts;
    clearTimeout(toast.timer);
    const hide = () => {
      if (toast.matches(":hover, :focus-within")) toast.timer = setTimeout(hide, UNDO / 4);
      else toast.hidden = true;
    };
    const button = undo && h("button", { type: "button", part: "undo", onclick: () => ((toast.hidden = true), undo(), this.#nodes.get(this.#current)?.node.focus()) }, this.#word("undo"));
    toast.replaceChildren(h("span", {}, text), ...(button ? [button] : []));
    toast.hidden = false;
    (alarming ? alert : heard).textContent = text;
    toast.timer = setTimeout(hide, UNDO);
  }

  /** One sentence for all of a moment. */
  #announce(item) {
    this.#emit("tidings-item", { item: structuredClone(item) });
    this.#heard.push(item);
    if (this.#heard.length > 1) return;
    const wait = Math.max(MINUTE / 40, this.#saidAt + MINUTE / 6 - Date.now());
    setTimeout(() => {
      const [first, ...others] = this.#heard.splice(0);
      this.#saidAt = Date.now();
      if (document.hidden) return;
      const n = this.#number(others.length + 1);
      this.#parts.heard.textContent = others.length ? this.#word("new_many", { n }) : this.#word("new_one", { title: first.title });
    }, wait);
  }

  #tick() {
    for (const { node } of this.#nodes.values()) {
      const time = node.querySelector("time");
      time.textContent = this.#ago(time.dateTime);
    }
  }
}

if (globalThis.customElements && !customElements.get("tidings-inbox")) {
  customElements.define("tidings-inbox", TidingsInbox);
}
