// The page round a picture: move and scale it, ask a box for its details, step through a sweep.
// Text from the program reaches the page through textContent only, never as markup.
"use strict";
(() => {
  const find = (id) => document.getElementById(id);
  const data = JSON.parse(find("data").textContent);
  const { boxes, arrows, steps } = data;
  const stage = find("stage");
  const svg = stage.querySelector("svg");
  const canvas = svg.querySelector(".canvas");
  const panel = find("panel");
  const byNumber = (several, name) => {
    const result = [];
    for (const node of several) result[Number(node.dataset[name])] = node;
    return result;
  };
  const boxNodes = byNumber(svg.querySelectorAll(".boxes > .box"), "box");
  const arrowNodes = byNumber(svg.querySelectorAll(".arrows > .arrow"), "arrow");
  const labelNodes = byNumber(svg.querySelectorAll(".labels > .label"), "arrow");
  const into = boxes.map(() => []);
  const outOf = boxes.map(() => []);
  arrows.forEach((arrow, number) => {
    outOf[arrow.tail].push(number);
    into[arrow.head].push(number);
  });

  // --- moving and scaling -----------------------------------------------------------------------

  const place = { x: 0, y: 0, scale: 1 };
  let moved = false; // by the reader
  const limits = [0.02, 8];

  function show() {
    canvas.setAttribute("transform", `translate(${place.x} ${place.y}) scale(${place.scale})`);
    find("percent").textContent = `${Math.round(100 * place.scale)}%`;
  }

  function zoom(factor, x = stage.clientWidth / 2, y = stage.clientHeight / 2) {
    const scale = Math.min(limits[1], Math.max(limits[0], place.scale * factor));
    place.x = x - ((x - place.x) * scale) / place.scale;
    place.y = y - ((y - place.y) * scale) / place.scale;
    place.scale = scale;
    moved = true;
    show();
  }

  function pan(x, y) {
    moved = true;
    place.x += x;
    place.y += y;
    show();
  }

  function frame(scale) {
    const wide = stage.clientWidth;
    const high = stage.clientHeight;
    place.scale = Math.min(limits[1], Math.max(limits[0], scale));
    place.x = (wide - data.width * place.scale) / 2;
    place.y = Math.max(0, (high - data.height * place.scale) / 2);
    show();
  }

  const fit = () =>
    frame(Math.min(stage.clientWidth / data.width, stage.clientHeight / data.height, 2));

  // at first the whole width, from the top, as long as it can be read
  const begin = () => {
    const width = stage.clientWidth / data.width;
    const whole = Math.min(width, stage.clientHeight / data.height);
    frame(Math.min(1, whole > 0.7 ? whole : Math.max(width, 0.4)));
  };

  function bringIntoView(numbers) {
    if (!numbers.length) return;
    const edge = 24;
    const around = [Infinity, Infinity, -Infinity, -Infinity];
    for (const number of numbers) {
      const [x, y, wide, high] = data.places[number];
      around[0] = Math.min(around[0], x - wide / 2);
      around[1] = Math.min(around[1], y - high / 2);
      around[2] = Math.max(around[2], x + wide / 2);
      around[3] = Math.max(around[3], y + high / 2);
    }
    const at = around.map((one, index) => one * place.scale + (index % 2 ? place.y : place.x));
    const shift = (low, high, size) => {
      if (high - low > size - 2 * edge) return size / 2 - (low + high) / 2;
      if (low < edge) return edge - low;
      return high > size - edge ? size - edge - high : 0;
    };
    const x = shift(at[0], at[2], stage.clientWidth);
    const y = shift(at[1], at[3], stage.clientHeight);
    if (x || y) pan(x, y);
  }

  const pointers = new Map();
  let travelled = 0;
  let pinched = 0;

  const spread = () => {
    const [one, other] = [...pointers.values()];
    return Math.hypot(one.x - other.x, one.y - other.y);
  };

  stage.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (pointers.size === 1) travelled = 0;
    if (pointers.size === 2) pinched = spread();
  });

  window.addEventListener("pointermove", (event) => {
    const last = pointers.get(event.pointerId);
    if (!last) return;
    const x = event.clientX - last.x;
    const y = event.clientY - last.y;
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    travelled += Math.abs(x) + Math.abs(y);
    if (travelled > 4) stage.classList.add("dragged");
    pan(x / pointers.size, y / pointers.size);
    if (pointers.size === 2 && pinched) {
      const now = spread();
      const [one, other] = [...pointers.values()];
      const around = stage.getBoundingClientRect();
      zoom(now / pinched, (one.x + other.x) / 2 - around.left, (one.y + other.y) / 2 - around.top);
      pinched = now;
    }
  });

  for (const name of ["pointerup", "pointercancel"]) {
    window.addEventListener(name, (event) => {
      pointers.delete(event.pointerId);
      if (!pointers.size) stage.classList.remove("dragged");
    });
  }

  // In a frame, as notebooks have them, the wheel scrolls the notebook until the picture is used.
  stage.addEventListener(
    "wheel",
    (event) => {
      const framed = window.parent !== window;
      if (framed && !event.ctrlKey && !event.metaKey && !stage.contains(document.activeElement)) return;
      event.preventDefault();
      const around = stage.getBoundingClientRect();
      const lines = event.deltaMode === 1 ? 16 : 1;
      const factor = Math.exp((-event.deltaY * lines * (event.ctrlKey ? 4 : 1)) / 500);
      zoom(factor, event.clientX - around.left, event.clientY - around.top);
    },
    { passive: false },
  );

  // --- what belongs together --------------------------------------------------------------------

  let selected = -1;
  let step = -1;

  function mark(name, numbers, nodes) {
    const chosen = new Set(numbers);
    nodes.forEach((node, number) => node.classList.toggle(name, chosen.has(number)));
  }

  function related(start) {
    const seen = { boxes: new Set([start]), arrows: new Set() };
    for (const [edges, end] of [[into, "tail"], [outOf, "head"]]) {
      const waiting = [start];
      const visited = new Set(waiting);
      while (waiting.length) {
        for (const number of edges[waiting.pop()]) {
          seen.arrows.add(number);
          const next = arrows[number][end];
          if (!visited.has(next)) {
            visited.add(next);
            seen.boxes.add(next);
            waiting.push(next);
          }
        }
      }
    }
    return seen;
  }

  function focus(number) {
    svg.classList.toggle("focusing", number >= 0);
    if (number < 0) return;
    const near = related(number);
    mark("near", near.boxes, boxNodes);
    mark("near", near.arrows, arrowNodes);
    mark("near", near.arrows, labelNodes);
  }

  const boxOf = (target) => {
    const node = target.closest ? target.closest(".boxes > .box") : null;
    return node ? Number(node.dataset.box) : -1;
  };

  // during a sweep a chosen box must not hide the boxes at work
  const rest = () => focus(step < 0 ? selected : -1);

  svg.addEventListener("pointerover", (event) => {
    if (pointers.size || event.pointerType === "touch") return;
    const number = boxOf(event.target);
    if (number >= 0) focus(number);
    else rest();
  });
  svg.addEventListener("pointerleave", rest);
  svg.addEventListener("click", (event) => {
    if (travelled <= 4) select(boxOf(event.target));
  });

  // --- the panel --------------------------------------------------------------------------------

  function add(parent, tag, text, className) {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    if (className) node.className = className;
    parent.append(node);
    return node;
  }

  function neighbours(title, numbers, end) {
    if (!numbers.length) return;
    add(panel, "h3", title);
    const list = add(panel, "ul");
    for (const number of numbers.slice(0, 50)) {
      const { label, [end]: other } = arrows[number];
      const button = add(add(list, "li"), "button", boxes[other].title || "(no name)");
      button.type = "button";
      if (label) add(button, "small", ` ${label}`);
      button.addEventListener("click", () => {
        select(other);
        bringIntoView([other]);
      });
    }
    if (numbers.length > 50) add(panel, "p", `and ${numbers.length - 50} more`, "kind");
  }

  function details(number) {
    const box = boxes[number];
    panel.replaceChildren();
    add(panel, "h2", box.title || "(no name)");
    add(panel, "p", box.count > 1 ? `${box.words}, ${box.count} times` : box.words, "kind");
    if (box.scope.length) add(panel, "p", `in ${box.scope.join(" › ")}`, "kind");
    for (const line of box.lines) add(panel, "p", line);
    const list = add(panel, "dl");
    for (const [name, text] of box.details) {
      add(list, "dt", name);
      add(list, "dd", text, text.includes("\n") ? "lines" : "");
    }
    neighbours("Depends on", into[number], "tail");
    neighbours("Used by", outOf[number], "head");
    panel.scrollTop = 0;
  }

  function overview() {
    panel.replaceChildren(find("overview").content.cloneNode(true));
  }

  function select(number) {
    selected = number;
    mark("selected", number >= 0 ? [number] : [], boxNodes);
    focus(number);
    if (number >= 0) details(number);
    else overview();
  }

  // --- the sweep --------------------------------------------------------------------------------

  const slider = find("slider");
  let playing = 0;

  function go(to) {
    step = Math.min(steps.length - 1, Math.max(-1, to));
    const now = step >= 0 ? steps[step] : { boxes: [], arrows: [], text: find("text").dataset.rest };
    const past = steps.slice(0, Math.max(0, step)).flatMap((one) => one.boxes);
    mark("done", past, boxNodes);
    mark("lit", now.boxes, boxNodes);
    mark("lit", now.arrows, arrowNodes);
    mark("lit", now.arrows, labelNodes);
    slider.value = String(step + 1);
    slider.setAttribute("aria-valuetext", `${step + 1} of ${steps.length}: ${now.text}`);
    find("at").textContent = `${step + 1} / ${steps.length}`;
    find("text").textContent = now.text;
    find("first").disabled = find("back").disabled = step < 0;
    find("on").disabled = find("last").disabled = step === steps.length - 1;
    rest();
    bringIntoView(now.boxes);
    if (playing && step === steps.length - 1) play(false);
  }

  function play(start) {
    clearInterval(playing);
    playing = 0;
    if (start) {
      if (step === steps.length - 1) go(-1);
      playing = setInterval(() => go(step + 1), 1100);
      go(step + 1);
    }
    find("play").setAttribute("aria-pressed", String(Boolean(playing)));
    find("play").textContent = playing ? "Pause" : "Play";
  }

  const moveTo = (to) => {
    play(false);
    go(to);
  };

  // --- the search -------------------------------------------------------------------------------

  const search = find("search");
  const words = boxes.map((box) =>
    [box.title, ...box.lines, ...box.details.flat(), ...box.scope].join("\n").toLowerCase(),
  );
  let found = [];
  let chosen = -1;

  function look() {
    const text = search.value.trim().toLowerCase();
    found = text ? data.order.filter((number) => words[number].includes(text)) : [];
    chosen = -1;
    mark("found", found, boxNodes);
    find("matches").textContent = text ? (found.length ? `${found.length} found` : "none") : "";
  }

  function nextMatch(by) {
    if (!found.length) return;
    chosen = (chosen + by + found.length + (chosen < 0 && by < 0 ? 1 : 0)) % found.length;
    find("matches").textContent = `${chosen + 1} of ${found.length}`;
    select(found[chosen]);
    bringIntoView([found[chosen]]);
  }

  search.addEventListener("input", look);
  search.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") nextMatch(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") {
      search.value = "";
      look();
      stage.focus();
    }
  });

  // --- buttons and keys -------------------------------------------------------------------------

  const actions = {
    closer: () => zoom(1.25),
    further: () => zoom(0.8),
    fit,
    percent: () => zoom(1 / place.scale),
    first: () => moveTo(-1),
    back: () => moveTo(step - 1),
    on: () => moveTo(step + 1),
    last: () => moveTo(steps.length - 1),
    play: () => play(!playing),
    theme: () => {
      const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
      document.documentElement.dataset.theme = dark ? "light" : "dark";
    },
  };
  for (const [name, act] of Object.entries(actions)) find(name).addEventListener("click", act);
  slider.addEventListener("input", () => moveTo(Number(slider.value) - 1));

  function walk(by) {
    if (!boxes.length) return;
    const at = data.order.indexOf(selected);
    const to = at < 0 ? (by > 0 ? 0 : boxes.length - 1) : at + by;
    if (to < 0 || to >= boxes.length) return;
    select(data.order[to]);
    bringIntoView([data.order[to]]);
  }

  const keys = {
    "+": actions.closer,
    "=": actions.closer,
    "-": actions.further,
    0: fit,
    1: actions.percent,
    ArrowRight: actions.on,
    ArrowLeft: actions.back,
    ArrowDown: () => walk(1),
    ArrowUp: () => walk(-1),
    Home: actions.first,
    End: actions.last,
    " ": actions.play,
    "/": () => search.focus(),
    Escape: () => select(-1),
  };
  const shifted = {
    ArrowRight: () => pan(-60, 0),
    ArrowLeft: () => pan(60, 0),
    ArrowDown: () => pan(0, -60),
    ArrowUp: () => pan(0, 60),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const control = event.target.closest("button, input, #panel");
    if (control && [" ", "Enter"].includes(event.key)) return; // the control's own keys
    if (event.target === slider && /^(Arrow|Home|End|Page)/.test(event.key)) return;
    if (control === panel && /^(Arrow|Home|End|Page)/.test(event.key)) return;
    const act = event.shiftKey && shifted[event.key] ? shifted[event.key] : keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  new ResizeObserver(() => moved || begin()).observe(stage);
  document.documentElement.classList.add("live");
  slider.max = String(steps.length);
  find("steps").hidden = !steps.length;
  begin();
  overview();
  go(-1);
})();
