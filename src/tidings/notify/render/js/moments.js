// Dates and times by CLDR patterns, in the recipient's zone, by the Gregorian calendar.
"use strict";

const MOMENT = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?([Zz]|[+-]\d{2}:\d{2}))?$/;

// What the clock on the wall shows: from a date as it is, from a moment in the zone.
function wallOf(value, zone, what) {
  const parts = typeof value === "string" ? MOMENT.exec(value) : null;
  if (parts === null) throw new Refused("bad_value", `${what} needs a date such as 2026-03-01 or a moment such as 2026-03-01T09:30:00Z`);
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((text) => Number(text || 0));
  const utc = new Date(0);
  utc.setUTCFullYear(year, month - 1, day);
  if (utc.getUTCMonth() !== month - 1 || utc.getUTCDate() !== day || year < 1) {
    throw new Refused("bad_value", `${what} needs a day that exists`);
  }
  if (parts[7] === undefined) {
    if (what === "time") throw new Refused("bad_value", "time needs a moment such as 2026-03-01T09:30:00Z");
    return utc;
  }
  if (hour > 23 || minute > 59 || second > 60) throw new Refused("bad_value", `${what} needs a time that exists`);
  const seconds = utc.getTime() / 1000 + hour * 3600 + minute * 60 + second - offsetOf(parts[7]);
  return new Date((seconds + zoneOffset(zone, seconds)) * 1000);
}

function offsetOf(text) {
  if (text === "Z" || text === "z") return 0;
  const [hours, minutes] = text.slice(1).split(":").map(Number);
  return (text[0] === "-" ? -1 : 1) * (hours * 3600 + minutes * 60);
}

function zoneOffset(zone, seconds) {
  let low = 0;
  let high = zone.since.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (zone.since[middle] <= seconds) low = middle;
    else high = middle - 1;
  }
  return zone.offset[low];
}

const FIELDS = {
  y: (wall, width) => (width === 2 ? pad(wall.getUTCFullYear() % 100, 2) : pad(wall.getUTCFullYear(), width)),
  M: (wall, width, names) => named(wall.getUTCMonth(), width, names.months, 1),
  L: (wall, width, names) => named(wall.getUTCMonth(), width, names.lone_months, 1),
  d: (wall, width) => pad(wall.getUTCDate(), width),
  E: (wall, width, names) => names.days[width > 3 ? "wide" : "short"][wall.getUTCDay()],
  c: (wall, width, names) => names.lone_days[width > 3 ? "wide" : "short"][wall.getUTCDay()],
  G: (wall, width, names) => names.era,
  H: (wall, width) => pad(wall.getUTCHours(), width),
  k: (wall, width) => pad(wall.getUTCHours() || 24, width),
  h: (wall, width) => pad(wall.getUTCHours() % 12 || 12, width),
  K: (wall, width) => pad(wall.getUTCHours() % 12, width),
  m: (wall, width) => pad(wall.getUTCMinutes(), width),
  s: (wall, width) => pad(wall.getUTCSeconds(), width),
  a: (wall, width, names) => names.halves[wall.getUTCHours() < 12 ? 0 : 1],
};

function pad(number, width) {
  return String(number).padStart(width, "0");
}

function named(index, width, names, first) {
  return width < 3 ? pad(index + first, width) : names[width === 3 ? "short" : "wide"][index];
}

function formatWall(wall, pattern, locale) {
  return pattern
    .map(([field, width]) => (field === "" ? width : inDigits(FIELDS[field](wall, width, locale.names), locale)))
    .join("");
}

function formatMoment(value, style, locale, zone, what) {
  const patterns = what === "date" ? locale.dates : locale.times;
  if (!Object.hasOwn(patterns, style)) {
    throw new Refused("bad_value", `${what} knows the styles ${Object.keys(patterns).join(", ")}`);
  }
  return formatWall(wallOf(value, zone, what), patterns[style], locale);
}
