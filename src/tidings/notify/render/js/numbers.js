// Numbers and money by the tables that Python prepared from CLDR; rounding is half to even, as there.
"use strict";

const PRECISIONS = {};

function inDigits(text, locale) {
  return locale.digits === null ? text : text.replace(/[0-9]/g, (digit) => locale.digits[digit]);
}

// A decimal as [negative, digits before the point, digits after it].
function decimalOf(value, what) {
  if (typeof value === "bigint") value = value.toString();
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new Refused("bad_value", `${what} needs a finite number`);
    value = Math.abs(value) < 1e21 ? String(value) : BigInt(value).toString();
    if (value.includes("e")) value = Number(value).toFixed(20);
  }
  const parts = /^(-?)([0-9]+)(?:\.([0-9]+))?$/.exec(value);
  if (parts === null || value.length > 60) throw new Refused("bad_value", `${what} needs a number`);
  return [parts[1] === "-", parts[2], parts[3] || ""];
}

function rounded(whole, fraction, places) {
  if (fraction.length <= places) return [whole, fraction];
  const kept = BigInt(whole + fraction.slice(0, places));
  const rest = fraction.slice(places);
  const half = "5" + "0".repeat(rest.length - 1);
  const up = rest > half || (rest === half && kept % 2n === 1n);
  const text = (up ? kept + 1n : kept).toString().padStart(whole.length + places, "0");
  return [text.slice(0, text.length - places), text.slice(text.length - places)];
}

function grouped(whole, pattern, separator, from) {
  const [first, later] = pattern.groups;
  if (whole.length < first + from) return whole;
  const parts = [whole.slice(-first)];
  for (let end = whole.length - first; end > 0; end -= later) parts.unshift(whole.slice(Math.max(0, end - later), end));
  return parts.join(separator);
}

function formatDecimal(value, pattern, locale, { least, most, what, decimal = locale.decimal, group = locale.group }) {
  const [negative, before, after] = decimalOf(value, what);
  let [whole, fraction] = rounded(before.replace(/^0+(?=.)/, ""), after, most);
  fraction = fraction.replace(/0+$/, "").padEnd(least, "0");
  const zero = /^0*$/.test(whole + fraction);
  const sign = negative && !zero ? "negative" : "positive";
  const number = grouped(whole, pattern, group, locale.grouped_from) + (fraction ? decimal + fraction : "");
  const [prefix, suffix] = pattern[sign];
  return prefix.replace("-", locale.minus) + inDigits(number, locale) + suffix.replace("-", locale.minus);
}

function formatNumber(value, locale, options) {
  const percent = options.style === "percent";
  if (options.style !== undefined && !percent) throw new Refused("bad_value", 'number knows the style "percent" only');
  const pattern = percent ? locale.percents : locale.decimals;
  const places = options.decimals === undefined ? null : placesOf(options.decimals);
  const scaled = percent ? timesHundred(value) : value;
  const text = formatDecimal(scaled, pattern, locale, {
    least: places ?? pattern.fraction[0],
    most: places ?? pattern.fraction[1],
    what: "number",
  });
  return percent ? text.replace("%", locale.percent) : text;
}

function placesOf(value) {
  if (!Number.isInteger(value) || value < 0 || value > 10) throw new Refused("bad_value", "decimals must be 0 to 10");
  return value;
}

function timesHundred(value) {
  const [negative, whole, fraction] = decimalOf(value, "number");
  const digits = fraction.padEnd(2, "0");
  return (negative ? "-" : "") + (whole + digits.slice(0, 2)).replace(/^0+(?=.)/, "") + (digits.length > 2 ? "." + digits.slice(2) : "");
}

// Micros are whole numbers; beyond 2^53 they have to come as text, or JSON has rounded them already.
function microsOf(value) {
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === "string" && /^-?[0-9]{1,19}$/.test(value)) return BigInt(value);
  throw new Refused("bad_value", "money needs whole micros; as text where they pass 2^53");
}

function formatMoney(micros, currency, locale) {
  if (typeof currency !== "string" || !/^[A-Z]{3}$/.test(currency)) {
    throw new Refused("bad_value", "money needs an ISO currency such as USD");
  }
  const amount = microsOf(micros);
  const negative = amount < 0n;
  const digits = (negative ? -amount : amount).toString().padStart(7, "0");
  const places = PRECISIONS[currency] ?? 2;
  const text = `${negative ? "-" : ""}${digits.slice(0, -6)}.${digits.slice(-6)}`;
  const formatted = formatDecimal(text, locale.money, locale, {
    least: places,
    most: places,
    what: "money",
    decimal: locale.money_decimal,
    group: locale.money_group,
  });
  return formatted.replace(/(.?)¤(.?)/u, (_, before, after) => before + spaced(locale.symbols[currency] ?? currency, before, after) + after);
}

// CLDR: a currency that ends in a letter keeps its distance from digits: "KWD 1.235", but "US$1.23".
function spaced(symbol, before, after) {
  const letters = [...symbol];
  const left = /\p{Nd}/u.test(before) && /[^\p{S}\p{Z}]/u.test(letters[0]) ? "\u00a0" : "";
  const right = /\p{Nd}/u.test(after) && /[^\p{S}\p{Z}]/u.test(letters[letters.length - 1]) ? "\u00a0" : "";
  return left + symbol + right;
}

function pluralCategory(value, locale) {
  const [, whole, fraction] = decimalOf(value, "plural");
  const visible = fraction.replace(/0+$/, "");
  const n = Number(`${whole}.${visible || "0"}`);
  return locale.category(n, Math.trunc(n), visible.length, Number(visible || 0), visible.length, Number(visible || 0));
}

function joinList(texts, locale) {
  const patterns = locale.lists;
  const put = (pattern, first, second) => pattern.replace(/\{([01])\}/g, (_, place) => (place === "0" ? first : second));
  if (texts.length < 2) return texts.join("");
  if (texts.length === 2) return put(patterns.two, texts[0], texts[1]);
  let joined = put(patterns.end, texts[texts.length - 2], texts[texts.length - 1]);
  for (let i = texts.length - 3; i > 0; i--) joined = put(patterns.middle, texts[i], joined);
  return put(patterns.start, texts[0], joined);
}
