"use strict";
// The page works without this script. It adds keys, search while typing, and news from elsewhere.
(() => {
  const main = document.getElementById("main");
  if (!main) return;
  const gone = document.getElementById("gone");
  const typing = () => {
    const at = document.activeElement;
    return at && (at.matches("input:not([type=checkbox]), textarea, select") || at.isContentEditable);
  };
  const isDirty = () =>
    [...main.querySelectorAll("textarea, input[type=text], input[type=checkbox]")].some((field) =>
      field.type === "checkbox" ? field.checked !== field.defaultChecked : field.value !== field.defaultValue,
    );

  // News: ask once a second while the page is visible, rarely otherwise. It also tells that a page is open.
  let misses = 0;
  const refresh = async () => {
    const answer = await fetch(location.href, { credentials: "same-origin" });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const next = fresh.getElementById("main");
    if (!next || typing() || isDirty()) return;
    const focused = document.activeElement && document.activeElement.id;
    const open = [...main.querySelectorAll("details[open][id]")].map((part) => part.id);
    main.replaceChildren(...next.childNodes);
    main.dataset.stamp = next.dataset.stamp;
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    const nav = document.querySelector(".side nav");
    const nextNav = fresh.querySelector(".side nav");
    if (nav && nextNav) nav.replaceChildren(...nextNav.childNodes);
  };
  const look = async () => {
    try {
      const answer = await fetch("alive", { credentials: "same-origin" });
      if (answer.status === 401) throw new Error("locked");
      misses = 0;
      gone.hidden = true;
      const stamp = await answer.text();
      if (answer.ok && main.dataset.live && stamp !== main.dataset.stamp && !document.hidden) {
        if (!typing() && !isDirty()) {
          main.dataset.stamp = stamp;
          await refresh();
        }
      }
    } catch {
      misses += 1;
      gone.hidden = misses < 2;
    }
    setTimeout(look, document.hidden ? 30000 : 900);
  };
  setTimeout(look, 900);

  // Search while typing.
  const search = document.getElementById("search-form");
  if (search) {
    const results = document.getElementById("results");
    let timer = 0;
    let latest = 0;
    const run = async () => {
      const turn = (latest += 1);
      const fields = new URLSearchParams(new FormData(search));
      const plain = fields.toString();
      fields.set("live", "1");
      results.setAttribute("aria-busy", "true");
      try {
        const answer = await fetch(`search?${fields}`, { credentials: "same-origin" });
        const part = new DOMParser().parseFromString(await answer.text(), "text/html");
        if (turn !== latest || !answer.ok) return;
        results.replaceChildren(...part.body.childNodes);
        history.replaceState(null, "", `search?${plain}`);
      } finally {
        if (turn === latest) results.removeAttribute("aria-busy");
      }
    };
    const soon = (delay) => {
      clearTimeout(timer);
      timer = setTimeout(run, delay);
    };
    search.addEventListener("input", (event) => soon(event.target.type === "search" ? 140 : 0));
    search.addEventListener("submit", (event) => {
      event.preventDefault();
      soon(0);
    });
  }

  // Many at once.
  const count = () => {
    const bar = document.getElementById("bulk");
    if (!bar) return;
    const picked = main.querySelectorAll("input[name=id][type=checkbox]:checked").length;
    bar.dataset.picked = String(picked);
    const words = bar.querySelector("output");
    if (words) words.textContent = picked === 0 ? "None selected" : `${picked} selected`;
  };
  main.addEventListener("change", (event) => {
    if (event.target.id === "pick-all") {
      for (const box of main.querySelectorAll("input[name=id][type=checkbox]")) box.checked = event.target.checked;
    }
    count();
  });
  count();

  // Keys.
  const cards = () => [...main.querySelectorAll("[data-card]")];
  const current = () => document.activeElement && document.activeElement.closest("[data-card]");
  const step = (by) => {
    const all = cards();
    if (all.length === 0) return;
    const at = all.indexOf(current());
    const next = all[Math.min(Math.max(at + by, 0), all.length - 1)];
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && typing()) {
      document.activeElement.blur();
      return;
    }
    if (typing()) return;
    const card = current();
    const button = card && card.querySelector(`button[data-key="${CSS.escape(event.key)}"]`);
    if (button) {
      event.preventDefault();
      button.click();
      return;
    }
    if (event.key === "j" || event.key === "k") {
      event.preventDefault();
      step(event.key === "j" ? 1 : -1);
      return;
    }
    if (event.key === "x" && card) {
      const box = card.querySelector("input[name=id][type=checkbox]");
      if (box) {
        box.click();
        event.preventDefault();
      }
      return;
    }
    if (event.key === "/" && search) {
      event.preventDefault();
      search.querySelector("input[type=search]").focus();
      return;
    }
    const link = document.querySelector(`.side nav a[data-key="${CSS.escape(event.key)}"]`);
    if (link && !card) {
      event.preventDefault();
      link.click();
    }
  });
})();
