// What makes the console quicker: every page works without it. No library, no code from elsewhere, nothing kept.
(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("scripted");
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const typing = () => document.activeElement?.matches("input, textarea, select, [contenteditable]") ?? false;

  // Times in the zone of whoever looks; the tooltip has the whole of it.
  const near = new Intl.RelativeTimeFormat(root.lang, { numeric: "auto", style: "short" });
  const exact = new Intl.DateTimeFormat(root.lang, { dateStyle: "medium", timeStyle: "short" });
  const whole = new Intl.DateTimeFormat(root.lang, { dateStyle: "full", timeStyle: "long" });
  function times(within) {
    for (const time of all("time[datetime]", within)) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      const seconds = (at - Date.now()) / 1000;
      const [unit, size] =
        Math.abs(seconds) < 60 ? ["second", 1] : Math.abs(seconds) < 3600 ? ["minute", 60] : ["hour", 3600];
      time.textContent = Math.abs(seconds) < 86400 && !("exact" in time.dataset) ? near.format(Math.round(seconds / size), unit) : exact.format(at);
      time.title = whole.format(at);
      time.dir = root.dir;
    }
  }

  // Ids that people carry elsewhere. The sign is drawn: few fonts have it.
  function copySign() {
    const [drawing, path] = ["svg", "path"].map((name) => document.createElementNS("http://www.w3.org/2000/svg", name));
    for (const [name, value] of Object.entries({ viewBox: "0 0 16 16", width: 14, height: 14, fill: "none", stroke: "currentColor" })) drawing.setAttribute(name, value);
    path.setAttribute("d", "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z");
    drawing.append(path);
    return drawing;
  }
  function copies(within) {
    for (const holder of all("[data-copy]", within)) {
      if (one("button", holder) || !navigator.clipboard) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "quiet";
      button.append(copySign());
      button.setAttribute("aria-label", holder.dataset.copy);
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(holder.dataset.copy);
        button.textContent = "✓";
        setTimeout(() => button.replaceChildren(copySign()), 1500);
      });
      holder.append(button);
    }
  }

  // Filters send themselves.
  function filters(within) {
    for (const form of all("form[data-auto]", within)) {
      form.addEventListener("change", (event) => {
        if (event.target.matches("select, input[type=date], input[type=checkbox]")) form.requestSubmit();
      });
    }
  }

  // Fields that were typed into are not lost by a click elsewhere.
  let unsaved = false;
  document.addEventListener("input", (event) => {
    if (event.target.closest("form[data-guard]")) unsaved = true;
  });
  document.addEventListener("submit", () => (unsaved = false));
  addEventListener("beforeunload", (event) => {
    if (unsaved) event.preventDefault();
  });

  // A form is sent once, however often its button is pressed.
  document.addEventListener("submit", (event) => {
    if (event.target.method !== "post") return;
    setTimeout(() => all("button", event.target).forEach((button) => (button.disabled = true)));
  });
  addEventListener("pageshow", () => all("form[method=post] button").forEach((button) => (button.disabled = false)));

  // Parts that are asked for anew while somebody looks: the same page, of which only they are taken.
  function live() {
    for (const part of all("[data-live][id]")) {
      if (part.dataset.watched) continue;
      part.dataset.watched = "1";
      schedule(part.id, Number(part.dataset.live));
    }
  }
  function schedule(id, seconds) {
    setTimeout(async () => {
      const part = document.getElementById(id);
      if (!part?.dataset.live) return;
      const busy = part.contains(document.activeElement) && typing();
      if (!document.hidden && !busy && !one("details.confirm[open]", part)) await refresh([id], part.dataset.from ?? location.href);
      schedule(id, seconds);
    }, seconds * 1000);
  }
  async function refresh(ids, url = location.href) {
    try {
      const answer = await fetch(url, { headers: { "x-live": "1" }, redirect: "error" });
      if (!answer.ok) return false;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const id of ids) {
        const [old, fresh] = [document.getElementById(id), page.getElementById(id)];
        if (!old || !fresh) continue;
        const open = all("details[open]", old).map((details) => one("summary", details)?.textContent);
        const place = all("a, button", old).indexOf(document.activeElement);
        fresh.dataset.watched = old.dataset.watched ?? "";
        old.replaceWith(fresh);
        for (const details of all("details", fresh)) {
          if (open.includes(one("summary", details)?.textContent)) details.open = true;
        }
        if (place >= 0) all("a, button", fresh)[place]?.focus({ preventScroll: true });
        decorate(fresh);
      }
      return true;
    } catch {
      return false;
    }
  }

  // A preview beside a form: what is typed is sent where the form says, and the answer takes the place of what stands there.
  // One request at a time, so that no older answer comes after a newer one.
  function previews() {
    for (const form of all("form[data-preview]")) {
      let waiting;
      let busy = false;
      const send = async () => {
        if (busy) return later();
        busy = true;
        form.setAttribute("aria-busy", "true");
        const data = new URLSearchParams(new FormData(form));
        try {
          const answer = await fetch(form.dataset.preview, { method: "POST", body: data });
          const page = new DOMParser().parseFromString(await answer.text(), "text/html");
          for (const id of form.dataset.targets.split(" ")) {
            const [old, fresh] = [document.getElementById(id), page.getElementById(id)];
            if (old && fresh) old.replaceWith(fresh), decorate(fresh);
          }
        } catch {
          // The next letter tries again.
        }
        busy = false;
        form.removeAttribute("aria-busy");
        frames();
        // What the server had no time for is asked for again.
        const again = one("[data-again]", form);
        if (again) later(Number(again.dataset.again) * 1000);
      };
      const later = (wait = 400) => {
        clearTimeout(waiting);
        waiting = setTimeout(send, wait);
      };
      form.addEventListener("input", () => later());
    }
  }

  // Passkeys: in the place of a code, to sign in, and a new one. Browsers know none at IP addresses.
  const keys = window.PublicKeyCredential?.parseRequestOptionsFromJSON && !/^[\d.]+$|:/.test(location.hostname);
  function passkeys(within) {
    if (!keys) return;
    all("[data-passkey-cannot]", within).forEach((text) => text.remove());
    for (const button of all("[data-passkey]", within)) {
      const purpose = button.dataset.passkey;
      // Whether this browser has any is known once one was used.
      if (purpose === "prove" && !localStorage.getItem("tidings-passkey")) continue;
      button.hidden = false;
      button.addEventListener("click", () => passkey(button, purpose).catch(() => (button.disabled = false)));
    }
  }
  async function passkey(button, purpose) {
    const form = button.form;
    const code = form.elements.code;
    if (purpose === "register" && code && !form.reportValidity()) return;
    button.disabled = true;
    const inside = purpose !== "sign_in";
    const answer = await fetch(inside ? "/bff/v1/passkeys/challenges" : "/console/passkey/challenge", {
      method: "POST",
      headers: inside ? { "content-type": "application/json", "x-csrf-token": form.elements.csrf.value } : {},
      body: inside ? JSON.stringify({ purpose }) : new URLSearchParams(),
    });
    const asked = (await answer.json()).public_key;
    const shown = purpose === "register"
      ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(asked) })
      : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(asked) });
    localStorage.setItem("tidings-passkey", "1");
    if (purpose !== "register" && code) code.disabled = true;
    const name = purpose === "register" ? "credential" : "code";
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value: JSON.stringify(shown) }));
    button.textContent = "✓";
    const others = all("button", form).filter((other) => other.type === "submit");
    if (others.length < 2) form.requestSubmit(others[0]);
  }
  // Mails stand in frames without rights, which are handed what they show, and say how high it is.
  function frames(only) {
    for (const frame of all("iframe[data-shows]")) {
      const html = document.getElementById(frame.dataset.shows)?.dataset.html;
      if (html !== undefined && (!only || frame.contentWindow === only)) frame.contentWindow.postMessage({ html }, "*");
    }
  }
  addEventListener("message", (event) => {
    const frame = all("iframe[data-shows]").find((one) => one.contentWindow === event.source);
    if (frame && event.data?.ready) frames(event.source);
    if (frame && event.data?.height) frame.style.height = `${Math.min(Math.max(event.data.height, 160), 1600)}px`;
  });

  // Alt with an arrow moves the step in which somebody types, as its buttons do.
  document.addEventListener("keydown", (event) => {
    const verb = { ArrowUp: "up", ArrowDown: "down" }[event.key];
    if (!event.altKey || !verb) return;
    const move = one(`[data-move=${verb}]:enabled`, event.target.closest("[data-step]") ?? document.createElement("p"));
    if (move) event.preventDefault(), move.click();
  });

  function decorate(within) {
    passkeys(within);
    times(within);
    copies(within);
    filters(within);
  }

  // Keys: Ctrl-K for the palette, / to find, g and a letter to go, j and k along rows.
  const palette = one("#palette");
  const known = JSON.parse(one("#palette-data")?.textContent ?? '{"places":[]}');
  let before = "";
  let chosen = 0;
  let shown = [];
  function list(text) {
    const wanted = text.trim().toLowerCase();
    shown = known.places.filter((place) => place.text.toLowerCase().includes(wanted));
    if (wanted && one("form.find")) shown.push({ text: `${known.find}: ${text.trim()}`, find: text.trim(), keys: "" });
    chosen = 0;
    const rows = shown.map((place, index) => {
      const row = document.createElement("li");
      row.id = `palette-${index}`;
      row.setAttribute("role", "option");
      row.append(place.text);
      if (place.keys) row.append(Object.assign(document.createElement("kbd"), { textContent: place.keys }));
      row.addEventListener("click", () => go(index));
      return row;
    });
    one("ul", palette).replaceChildren(...rows);
    choose(0);
  }
  function choose(index) {
    chosen = Math.min(Math.max(index, 0), shown.length - 1);
    all("li", palette).forEach((row, place) => row.setAttribute("aria-selected", String(place === chosen)));
    const row = all("li", palette)[chosen];
    row?.scrollIntoView({ block: "nearest" });
    one("input", palette).setAttribute("aria-activedescendant", row?.id ?? "");
  }
  function go(index) {
    if (!shown[index]) return;
    if (shown[index].path) return location.assign(shown[index].path);
    // What is looked for may be an address, which belongs into no URL.
    const search = one("form.find");
    one("input[name=q]", search).value = shown[index].find;
    search.requestSubmit();
  }
  function open() {
    if (!palette || palette.open) return;
    palette.showModal();
    one("input", palette).value = "";
    list("");
    one("input", palette).focus();
  }
  if (palette) {
    one("input", palette).addEventListener("input", (event) => list(event.target.value));
    palette.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") choose(chosen + 1), event.preventDefault();
      if (event.key === "ArrowUp") choose(chosen - 1), event.preventDefault();
      if (event.key === "Enter") go(chosen), event.preventDefault();
    });
    palette.addEventListener("click", (event) => {
      if (event.target === palette) palette.close();
    });
    all("[data-palette]").forEach((button) => button.addEventListener("click", open));
  }
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") return event.preventDefault(), open();
    if (event.ctrlKey || event.metaKey || event.altKey || typing() || palette?.open) return;
    if (event.key === "?") return event.preventDefault(), open();
    const field = one(`[data-key="${CSS.escape(event.key)}"]`);
    if (field) return event.preventDefault(), field.focus();
    if (event.key === "j" || event.key === "k") return along(event.key === "j" ? 1 : -1);
    const keys = `${before} ${event.key}`;
    const link = all("[data-keys]").find((place) => place.dataset.keys === keys);
    before = event.key === "g" ? "g" : "";
    if (link) location.assign(link.href);
  });
  function along(step) {
    const rows = all("tr[data-row] td:first-child a, article[data-row] h2 a");
    const at = rows.findIndex((link) => link.closest("[data-row]").contains(document.activeElement));
    rows[Math.min(Math.max(at + step, 0), rows.length - 1)]?.focus();
  }

  // On a telephone the menu covers the page; Escape takes it away.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && location.hash === "#menu") location.hash = "#content";
  });

  // Where tabs have no room side by side, the present one is seen.
  for (const tab of all(".tabs [aria-current]")) {
    const row = tab.closest("ul");
    const [here, around] = [tab.getBoundingClientRect(), row.getBoundingClientRect()];
    row.scrollLeft += here.left + here.width / 2 - around.left - around.width / 2;
  }

  decorate(document);
  live();
  previews();
  frames();
  setInterval(() => times(document), 30000);
})();
