// Whether a link may stand in a message: its scheme is harmless and its host is one that the tenant allows.
"use strict";

const SCHEMES = { href: ["https", "http", "mailto", "tel", "sms"], src: ["https", "http", "cid"] };
const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'", "&#39;": "'", "&#x60;": "`", "&#x3D;": "=" };

function plainText(html) {
  return html.replace(/&(?:amp|lt|gt|quot|#x27|#39|#x60|#x3D);/g, (entity) => ENTITIES[entity]);
}

function refuseLink(why) {
  throw new Refused("link_not_allowed", why);
}

// Browsers pass over blanks and turn backslashes round; whatever needs that is no honest link.
function checkLink(url, kind, hosts) {
  if (url.length > 2048) refuseLink(`a link in ${kind} has more than 2048 characters`);
  if (url === "") refuseLink(`a link in ${kind} is empty`);
  if (/[\u0000-\u0020\u007f-\u009f\u2028\u2029\\<>"`]/.test(url)) refuseLink(`a value in ${kind} is no link`);
  // In a style the address stands in quotes and brackets, whose like would end it.
  if (kind === "src" && /['()]/.test(url)) refuseLink("a value in src is no link");
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(url);
  if (scheme === null) refuseLink(`a link in ${kind} lacks its scheme, such as https:`);
  const name = scheme[1].toLowerCase();
  if (!SCHEMES[kind].includes(name)) refuseLink(`a link in ${kind} has a scheme other than ${SCHEMES[kind].join(", ")}`);
  if (name === "https" || name === "http") checkHost(url, kind, hosts);
  return url;
}

function checkHost(url, kind, hosts) {
  const place = /^https?:\/\/([^/?#]*)/i.exec(url);
  const host = place === null ? "" : place[1].replace(/:[0-9]{1,5}$/, "").toLowerCase();
  if (!/^(?:[^\s@:%\[\]]+|\[[0-9a-f:.]+\])$/.test(host)) refuseLink(`a link in ${kind} has no plain host`);
  if (hosts.any || hosts.exact.has(host)) return;
  for (let dot = host.indexOf("."); dot !== -1; dot = host.indexOf(".", dot + 1)) {
    if (hosts.under.has(host.slice(dot + 1))) return;
  }
  refuseLink(`a link in ${kind} leads to a host that allowed_link_domains does not name`);
}

// What a value may be that lands in a style: a colour, a size, a name; nothing that can say more than that.
function checkStyle(value) {
  if (!/^[\p{L}\p{N}#%.,()\s/_+-]*$/u.test(value) || /url\s*\(|expression\s*\(/i.test(value)) {
    throw new Refused("bad_value", "a value in a style may hold letters, digits and # % . , ( ) / _ + - only");
  }
  return value;
}
