// The page around a graph's picture: move and zoom it, look things up in it. Texts are only ever set as text.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const stage = document.getElementById("stage");
  const svg = stage.querySelector("svg");
  const tip = document.getElementById("tip");
  const panel = document.getElementById("panel");
  const search = document.getElementById("search");
  const found = document.getElementById("found");
  const whole = svg.viewBox.baseVal;
  const size = { width: whole.width, height: whole.height };
  const start = svg.querySelector("circle.head")?.cx.baseVal.value ?? whole.width / 2;
  const view = { x: 0, y: 0, scale: 1 };

  // Small tools

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined && text !== null) made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const of = (target) => (target instanceof Element ? target.closest("[data-node],[data-edge]") : null);
  const same = (target) =>
    [...svg.querySelectorAll("[data-node],[data-edge]")].filter(
      (one) => one.dataset.node === target.dataset.node && one.dataset.edge === target.dataset.edge
    );
  const known = (target) => (target.dataset.node ? data.nodes[target.dataset.node] : data.edges[target.dataset.edge]);

  // Moving and zooming

  const show = () => {
    const { width, height } = stage.getBoundingClientRect();
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${width / view.scale} ${height / view.scale}`);
  };
  const fit = (least) => {
    const { width, height } = stage.getBoundingClientRect();
    view.scale = Math.max(Math.min(width / size.width, height / size.height, 1.4), least);
    const room = width / view.scale;
    const middle = size.width > room ? Math.min(Math.max(start, room / 2), size.width - room / 2) : size.width / 2;
    view.x = middle - room / 2;
    view.y = Math.min((size.height - height / view.scale) / 2, 0);
    show();
  };
  const zoom = (factor, clientX, clientY) => {
    const box = stage.getBoundingClientRect();
    const [x, y] = [(clientX ?? box.left + box.width / 2) - box.left, (clientY ?? box.top + box.height / 2) - box.top];
    const scale = Math.min(Math.max(view.scale * factor, 0.05), 8);
    view.x += x / view.scale - x / scale;
    view.y += y / view.scale - y / scale;
    view.scale = scale;
    show();
  };
  const pan = (x, y) => {
    view.x -= x / view.scale;
    view.y -= y / view.scale;
    show();
  };
  const bringIntoView = (target) => {
    const box = stage.getBoundingClientRect();
    const place = (target.querySelector(".box,.back") ?? target).getBoundingClientRect();
    pan(box.left + box.width / 2 - place.left - place.width / 2, box.top + box.height / 3 - place.top);
  };

  const pointers = new Map();
  let moved = 0;
  stage.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event);
    moved = 0;
  });
  window.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const others = [...pointers.values()].filter((one) => one.pointerId !== event.pointerId);
    const [x, y] = [event.clientX - before.clientX, event.clientY - before.clientY];
    moved += Math.abs(x) + Math.abs(y);
    pointers.set(event.pointerId, event);
    if (moved < 4) return;
    stage.classList.add("dragged");
    tip.hidden = true;
    if (others.length) {
      const distance = (one) => Math.hypot(one.clientX - others[0].clientX, one.clientY - others[0].clientY);
      zoom(distance(event) / Math.max(distance(before), 1), others[0].clientX, others[0].clientY);
    } else pan(x, y);
  });
  for (const name of ["pointerup", "pointercancel"])
    window.addEventListener(name, (event) => {
      pointers.delete(event.pointerId);
      stage.classList.remove("dragged");
    });
  stage.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX, event.clientY);
    },
    { passive: false }
  );
  window.addEventListener("resize", show);

  // Hovering

  const excerpt = (text, most) => {
    const lines = text.split("\n");
    return lines.length > most ? [...lines.slice(0, most), "…"].join("\n") : text;
  };
  const head = (entry) => {
    const parts = [element("strong", entry.title)];
    if (entry.summary) parts.push(element("p", entry.summary, "soft"));
    for (const row of entry.rows) parts.push(element("p", row));
    if (entry.ran) parts.push(element("p", entry.ran, entry.failed ? "bad" : "ran"));
    return parts;
  };
  const hover = (target, x, y) => {
    const entry = target && known(target);
    for (const one of svg.querySelectorAll(".hot")) one.classList.remove("hot");
    tip.hidden = !entry;
    if (!entry) return;
    for (const one of same(target)) one.classList.add("hot");
    tip.replaceChildren(...head(entry));
    if (entry.definition) tip.append(element("pre", excerpt(entry.definition, 12)));
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 16, innerWidth - box.width - 8))}px`;
    tip.style.top = `${y + 18 + box.height < innerHeight ? y + 18 : Math.max(4, y - box.height - 12)}px`;
  };
  stage.addEventListener("pointermove", (event) => {
    if (!pointers.size) hover(of(event.target), event.clientX, event.clientY);
  });
  stage.addEventListener("pointerleave", () => hover(null));
  stage.addEventListener("focusin", (event) => {
    const target = of(event.target);
    if (!target || !target.matches(":focus-visible")) return;
    const box = target.querySelector(".box").getBoundingClientRect();
    hover(target, box.right, box.top);
  });

  // The panel

  const block = (title, text) => {
    const made = element("details");
    made.append(element("summary", title), element("pre", text));
    return made;
  };
  const visit = (one, index) => {
    const made = element("details");
    made.open = index === 0;
    made.append(element("summary", one.title, one.failed ? "bad" : ""));
    for (const [title, text] of one.parts) made.append(block(title, text));
    for (const call of one.calls) {
      const inner = element("details");
      inner.append(element("summary", call.title, call.failed ? "bad" : ""));
      for (const [title, text] of call.parts) inner.append(block(title, text));
      made.append(inner);
    }
    return made;
  };
  const close = () => {
    panel.hidden = true;
    for (const one of svg.querySelectorAll(".open")) one.classList.remove("open");
    show();
  };
  const open = (target) => {
    const entry = known(target);
    if (!entry) return;
    close();
    hover(null);
    for (const one of same(target)) one.classList.add("open");
    const top = element("div", null, "top");
    const button = element("button", "×");
    button.setAttribute("aria-label", "Close");
    button.addEventListener("click", close);
    top.append(element("h2", entry.path), button);
    panel.replaceChildren(top, ...head(entry).slice(1));
    if (entry.visits.length) panel.append(element("h3", "In the run"), ...entry.visits.map(visit));
    if (entry.omitted) panel.append(element("p", entry.omitted, "soft"));
    if (entry.definition) panel.append(element("h3", "Definition"), element("pre", entry.definition));
    if (entry.sources.length) panel.append(element("h3", "Behind it"));
    for (const [title, text] of entry.sources) panel.append(block(title, text));
    panel.hidden = false;
    panel.scrollTop = 0;
    show();
  };
  stage.addEventListener("click", (event) => {
    if (moved >= 4) return;
    const target = of(event.target);
    if (target) open(target);
    else close();
  });

  // Searching

  let matches = [];
  let current = -1;
  const look = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const all = [...svg.querySelectorAll("[data-node],[data-edge]")];
    const fits = (one) => words.every((word) => (known(one)?.text ?? "").includes(word));
    for (const one of all) one.classList.toggle("dim", words.length > 0 && !fits(one));
    matches = words.length ? all.filter((one) => one.dataset.node && fits(one)) : [];
    current = -1;
    found.textContent = words.length ? `${matches.length} node${matches.length === 1 ? "" : "s"}` : "";
  };
  search.addEventListener("input", look);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      search.value = "";
      look();
      search.blur();
    }
    if (event.key !== "Enter" || !matches.length) return;
    current = (current + (event.shiftKey ? matches.length - 1 : 1)) % matches.length;
    open(matches[current]);
    bringIntoView(matches[current]);
    found.textContent = `${current + 1} of ${matches.length}`;
  });

  // Keys and buttons

  const actions = {
    "+": () => zoom(1.25),
    "=": () => zoom(1.25),
    "-": () => zoom(0.8),
    0: () => fit(0),
    "/": () => search.focus(),
    Escape: close,
    ArrowLeft: () => pan(60, 0),
    ArrowRight: () => pan(-60, 0),
    ArrowUp: () => pan(0, 60),
    ArrowDown: () => pan(0, -60),
  };
  document.addEventListener("keydown", (event) => {
    if (event.target === search || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = document.activeElement && of(document.activeElement);
    if (target && (event.key === "Enter" || event.key === " ")) open(target);
    else if (event.key in actions && !panel.contains(document.activeElement)) actions[event.key]();
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
  document.getElementById("closer").addEventListener("click", actions["+"]);
  document.getElementById("further").addEventListener("click", actions["-"]);
  document.getElementById("fit").addEventListener("click", actions[0]);
  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme:dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // Every node can be reached by key, and every edge hit with a mouse

  for (const title of svg.querySelectorAll("title")) title.remove();
  for (const one of svg.querySelectorAll("[data-node]")) {
    one.setAttribute("tabindex", "0");
    one.setAttribute("role", "button");
    one.setAttribute("aria-label", known(one)?.title ?? "");
  }
  for (const way of svg.querySelectorAll("[data-edge]>.way")) {
    const hit = way.cloneNode();
    hit.setAttribute("class", "hit");
    way.after(hit);
  }
  svg.setAttribute("preserveAspectRatio", "xMinYMin meet");
  svg.setAttribute("role", "group");
  fit(0.75);
})();
