// The engine: compiled templates by their key, the closed set of helpers, and sets rendered in one call.
// Evaluated in one function together with numbers.js, moments.js and links.js, so that nothing of it is global.
"use strict";

class Refused extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
    this.place = "";
  }
}

const hb = Handlebars.create();
// Set by `limit` before anything is loaded.
const LIMITS = { steps: 0, depth: 0, output: 0, longest: 0 };
// Characters of texts after which a set stops and is answered as far as it is.
const MOST_OF_A_SET = 8000000;
// About how many characters of compiled code one expression is.
const CODE_OF_A_STEP = 160;
const bundles = new Map();
const locales = new Map();
const zones = new Map();
const hostSets = new Map();

// What the job at work has used up, and how it formats.
let job = null;
let steps = 0;
let depth = 0;

// What a message may use up is counted in steps: an expression that is evaluated, a turn of a loop, a call, a piece of text.
function charge(count) {
  if ((steps += count) > LIMITS.steps) throw new Refused("too_many_steps", `the template takes more than ${LIMITS.steps} steps`);
}

function checkSize(size) {
  if (size > LIMITS.output) throw new Refused("too_large", `the message has more than ${LIMITS.output} characters`);
}

function step() {
  charge(1);
}

// Every program (a text, the inside of a block) costs as much as it has expressions, each time that it runs.
const makeTemplate = hb.template;
hb.template = function (spec) {
  for (const name of Object.keys(spec)) {
    if (name !== "main" && !/^[0-9]+$/.test(name)) continue;
    const run = spec[name];
    if (typeof run !== "function") continue;
    const cost = Math.ceil(run.toString().length / CODE_OF_A_STEP);
    spec[name] = function (container) {
      charge(cost);
      container.escapeExpression = printed;
      return run.apply(this, arguments);
    };
  }
  return makeTemplate.call(this, spec);
};

// What an expression prints: escaped in HTML, as it is elsewhere; long ones cost more.
function printed(value) {
  const text = job.html ? hb.escapeExpression(value) : value === undefined || value === null ? "" : String(value);
  charge(text.length >> 7);
  return text;
}

const plainEach = hb.helpers.each;
for (const name of Object.keys(hb.helpers)) {
  if (!["if", "unless", "each", "with", "lookup", "helperMissing", "blockHelperMissing"].includes(name)) hb.unregisterHelper(name);
}

hb.registerHelper("each", function (items, options) {
  if (arguments.length !== 2) throw new Refused("bad_value", "each takes one value");
  const inner = options.fn;
  let size = 0;
  options.fn = function (context, more) {
    step();
    const text = inner(context, more);
    checkSize((size += text.length));
    return text;
  };
  return plainEach.call(this, items, options);
});

const invokePartial = hb.VM.invokePartial;
hb.VM = Object.assign({}, hb.VM, {
  invokePartial(partial, context, options) {
    step();
    if (++depth > LIMITS.depth) throw new Refused("too_deep", `partials nest more than ${LIMITS.depth} deep`);
    try {
      const text = invokePartial.call(this, partial, context, options);
      checkSize(text.length);
      return text;
    } finally {
      depth--;
    }
  },
});

function missing(value) {
  return value === undefined || value === null || value === "";
}

function argumentsOf(values, most, what) {
  const given = Array.prototype.slice.call(values, 0, -1);
  if (given.length < 1 || given.length > most) throw new Refused("bad_value", `${what} takes 1 to ${most} values`);
  return [given, values[values.length - 1].hash];
}

function placeOf(loc) {
  return loc ? `${loc.start.line}:${loc.start.column + 1}` : "";
}

// Formatting takes about as long as so many plain expressions.
const COST_OF_A_HELPER = 10;

function register(name, most, format) {
  hb.registerHelper(name, function () {
    charge(COST_OF_A_HELPER);
    try {
      const [given, hash] = argumentsOf(arguments, most, name);
      return missing(given[0]) ? "" : format(given, hash);
    } catch (error) {
      // The validator maps the place in the text that was compiled to the author's file.
      if (job.placed && error instanceof Refused) error.place = placeOf(arguments[arguments.length - 1].loc);
      throw error;
    }
  });
}

register("date", 2, ([value, style], hash) => formatMoment(value, style ?? hash.style ?? "long", job.locale, job.zone, "date"));
register("time", 2, ([value, style], hash) => formatMoment(value, style ?? hash.style ?? "short", job.locale, job.zone, "time"));
register("number", 1, ([value], hash) => formatNumber(value, job.locale, hash));
register("money", 2, ([value, currency]) =>
  typeof value === "object"
    ? formatMoney(value.amount_micros, value.currency, job.locale)
    : formatMoney(value, currency, job.locale));
register("plural", 1, ([count], hash) => {
  const category = pluralCategory(count, job.locale);
  const text = Object.hasOwn(hash, category) ? hash[category] : hash.other;
  if (typeof text !== "string") throw new Refused("bad_value", "plural needs other=");
  return text.replace("#", () => formatNumber(count, job.locale, {}));
});
register("list", 2, ([items, field]) => {
  if (!Array.isArray(items)) throw new Refused("bad_value", "list needs a list");
  const texts = items.map((item) => (step(), field === undefined ? item : own(item, field)));
  return joinList(texts.filter((text) => !missing(text)).map(String), job.locale);
});
register("link", 2, ([url, text]) => {
  const checked = checkLink(String(url), "href", job.hosts);
  const shown = missing(text) ? checked : String(text);
  if (!job.html) return shown === checked ? checked : `${shown} (${checked})`;
  return new hb.SafeString(`<a href="${hb.escapeExpression(checked)}">${hb.escapeExpression(shown)}</a>`);
});

function own(object, name) {
  return object !== null && typeof object === "object" && Object.hasOwn(object, name) ? object[name] : undefined;
}

// A check that fails says where its value was written: the file and the line, then the expression.
function placed(options, check) {
  try {
    return check();
  } catch (error) {
    if (error instanceof Refused && typeof options.hash.at === "string") error.place = `${options.hash.at}:${options.hash.of}`;
    throw error;
  }
}

// Publishing sets these around values that land in a link or in a style. No author can call them.
for (const kind of ["href", "src"]) {
  hb.registerHelper(`tidings_${kind}`, function (options) {
    const value = options.fn(this);
    charge(COST_OF_A_HELPER + (value.length >> 5));
    placed(options, () => checkLink(job.html ? plainText(value) : value, kind, job.hosts));
    return value;
  });
}
hb.registerHelper("tidings_style", function (options) {
  const value = options.fn(this);
  charge(COST_OF_A_HELPER + (value.length >> 5));
  placed(options, () => checkStyle(plainText(value)));
  return value;
});

// Publishing sets these around what JSON holds, around the whole of it, and around partials that are given something.
hb.registerHelper("tidings_json", function (options) {
  const value = options.fn(this);
  charge(value.length >> 6);
  return JSON.stringify(value).slice(1, -1);
});
hb.registerHelper("tidings_document", function (options) {
  const text = options.fn(this);
  try {
    JSON.parse(text);
  } catch {
    throw new Refused("bad_value", "the body is not valid JSON once its values are in it");
  }
  return text;
});
hb.registerHelper("tidings_scope", function () {
  step();
  const options = arguments[arguments.length - 1];
  const context = arguments.length > 1 ? arguments[0] : this;
  const names = Object.keys(options.hash);
  if (names.length === 0) return options.fn(context);
  const inside = context !== null && typeof context === "object" && !Array.isArray(context) ? Object.assign({}, context) : {};
  for (const name of names) inside[name] = options.hash[name];
  return options.fn(inside);
});

const KNOWN = {};
for (const name of Object.keys(hb.helpers)) KNOWN[name] = true;

// Publishing takes away the blanks that belong to tags, and marks the texts that it did it to; see expand/whitespace.py.
const SETTLED = "{{!tidings:settled}}";

function compile(source) {
  if (source === null) return null;
  const settled = source.startsWith(SETTLED);
  const text = settled ? source.slice(SETTLED.length) : source;
  return hb.compile(text, { knownHelpers: KNOWN, knownHelpersOnly: true, preventIndent: true, ignoreStandalone: settled });
}

function loadBundle(json) {
  const { key, subject, html, text, whatsapp } = JSON.parse(json);
  bundles.set(key, { subject: compile(subject), html: compile(html), text: compile(text), whatsapp: compile(whatsapp) });
  return "";
}

function dropBundles(json) {
  for (const key of JSON.parse(json)) bundles.delete(key);
  return "";
}

function loadLocale(json) {
  const { tag, table } = JSON.parse(json);
  table.category = new Function("n", "i", "v", "f", "w", "t", `"use strict"; return ${table.category};`);
  locales.set(tag, table);
  return "";
}

function loadZone(json) {
  const { name, table } = JSON.parse(json);
  zones.set(name, table);
  return "";
}

function limit(json) {
  Object.assign(LIMITS, JSON.parse(json));
  return "";
}

function loadPrecisions(json) {
  Object.assign(PRECISIONS, JSON.parse(json));
  return "";
}

// The same few lists come again and again; each is taken apart once.
function hostsOf(names) {
  const key = names.join(" ");
  let known = hostSets.get(key);
  if (known === undefined) {
    if (hostSets.size > 500) hostSets.clear();
    known = {
      any: names.length === 0,
      exact: new Set(names.filter((name) => !name.startsWith("*."))),
      under: new Set(names.filter((name) => name.startsWith("*.")).map((name) => name.slice(2))),
    };
    hostSets.set(key, known);
  }
  return known;
}

const PROTECTED = { allowProtoPropertiesByDefault: false, allowProtoMethodsByDefault: false };

function part(template, html, wanted) {
  if (template === null) return "";
  job.html = html;
  depth = 0;
  const text = template(wanted.v, Object.assign({ data: Object.assign({}, wanted.d) }, PROTECTED));
  checkSize(text.length);
  return text.includes("\u0000") ? text.replaceAll("\u0000", "") : text;
}

function renderOne(wanted, out) {
  const bundle = bundles.get(wanted.k);
  job = { locale: locales.get(wanted.l), zone: zones.get(wanted.z), hosts: hostsOf(wanted.h), html: false, placed: wanted.k.startsWith("placed/") };
  steps = 0;
  const at = out.length;
  try {
    out.push("", part(bundle.subject, false, wanted).replace(/\s+/g, " ").trim(), part(bundle.html, true, wanted), part(bundle.text, false, wanted).trim(), part(bundle.whatsapp, false, wanted));
  } catch (error) {
    out.length = at;
    out.push(...failure(error), "", "");
  }
}

// Messages of ours name helpers and rules. Those of others could quote a value, so only their kind is told.
function failure(error) {
  if (error instanceof Refused) return [error.code, error.message, error.place];
  if (error instanceof RangeError) return ["too_deep", "the template nests too deeply or grows too large", ""];
  return ["template_broken", `the template can't be rendered (${error instanceof Error ? error.name : "unknown"})`, ""];
}

// Five fields per job, set apart by zero characters: three times as quick as JSON for texts beyond Latin.
// A set that takes long is answered as far as it is; others may have their turn before the rest of it.
function renderSet(json, sliceMs) {
  const out = [];
  const began = Date.now();
  let size = 0;
  for (const wanted of JSON.parse(json)) {
    const at = out.length;
    renderOne(wanted, out);
    for (let n = at; n < out.length; n++) size += out[n].length;
    if (size > MOST_OF_A_SET || Date.now() - began >= sliceMs) break;
  }
  job = null;
  return out.join("\u0000");
}

// Where an expression is longer than anybody writes; the parser takes far too long for those. -1 where none is.
function tooLong(source) {
  const ends = /"(?:\\"|[^"])*"|'(?:\\'|[^'])*'|\[(?:\\\]|[^\]])*\]|\}\}/g;
  for (let start = source.indexOf("{{"); start >= 0; ) {
    // A brace after a backslash is text.
    if (source[start - 1] === "\\" && source[start - 2] !== "\\") {
      start = source.indexOf("{{", start + 2);
      continue;
    }
    const comment = /^\{\{~?!(--)?/.exec(source.slice(start, start + 8));
    let end = -1;
    if (comment !== null) {
      end = source.indexOf(comment[1] === undefined ? "}}" : "--", start + comment[0].length);
    } else {
      ends.lastIndex = start + 2;
      for (let found = ends.exec(source); found !== null; found = ends.exec(source)) {
        if (found[0] === "}}") {
          end = found.index;
          break;
        }
        if (found.index - start > LIMITS.longest) break;
      }
      if ((end < 0 ? source.length : end) - start > LIMITS.longest) return start;
    }
    if (end < 0) return -1;
    start = source.indexOf("{{", end + 2);
  }
  return -1;
}

function parse(source) {
  const long = tooLong(source);
  if (long >= 0) {
    const line = source.slice(0, long).split("\n").length;
    return JSON.stringify({ error: `an expression on line ${line} has more than ${LIMITS.longest} characters` });
  }
  try {
    const tree = hb.parseWithoutProcessing(source);
    return JSON.stringify({ tree });
  } catch (error) {
    const message = error instanceof RangeError ? "is nested too deeply" : String(error.message).slice(0, 2000);
    return JSON.stringify({ error: message });
  }
}

// A large argument is put here before the call; whoever takes it leaves nothing behind.
function taken() {
  const text = engine.given;
  engine.given = "";
  return text;
}

const engine = { given: "", taken, limit, loadPrecisions, loadBundle, dropBundles, loadLocale, loadZone, renderSet, parse };
return engine;
