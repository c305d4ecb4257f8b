"use strict";
// Everything works without a server: data arrive as script files, and texts only ever become text nodes.
const imarenaSite = (() => {
  const STEP = 20;
  const root = document.body ? document.body.dataset.root : "";
  let facts = null, parts = [], waiting = [];
  let run = 0, shown = 0, cursor = { part: 0, row: 0 };
  const $ = (id) => document.getElementById(id);
  const make = (tag, text, kind) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  function load(number) {
    if (parts[number]) return Promise.resolve(parts[number]);
    return new Promise((done, failed) => {
      waiting[number] = done;
      const script = make("script");
      script.src = `${root}data/battles-${number}.js`;
      script.onerror = () => failed(new Error(`data/battles-${number}.js cannot be read`));
      document.head.append(script);
    });
  }

  function part(number, [items, battles]) {
    parts[number] = { items, battles };
    if (waiting[number]) waiting[number](parts[number]);
  }

  // A battle: [item, left model, right model, left image, right image, [[board, outcome, count], ...]]
  function counts(battle, board) {
    const sum = [0, 0, 0, 0]; // left, right, tie, both bad
    for (const [number, outcome, count] of battle[5]) if (board === "" || number === Number(board)) sum[outcome] += count;
    return sum;
  }

  function needsSide(outcome) {
    return outcome === "win" || outcome === "loss";
  }

  function fits(part, battle, wanted) {
    const item = part.items[battle[0]], names = [facts.models[battle[1]][0], facts.models[battle[2]][0]];
    let side = -1;
    if (wanted.model && (side = names.indexOf(wanted.model)) < 0) return false;
    if (wanted.opponent && side < 0) {
      const against = names.indexOf(wanted.opponent);
      if (against < 0) return false;
      side = 1 - against; // with only an opponent chosen, "the model" is whoever met it
    } else if (wanted.opponent && names[1 - side] !== wanted.opponent) return false;
    for (const name of facts.labels) if (wanted[name] && item.labels[name] !== wanted[name]) return false;
    if (wanted.text && !`${item.instruction} ${item.key}`.toLowerCase().includes(wanted.text.toLowerCase())) return false;
    const sum = counts(battle, wanted.board);
    const most = (outcome) => sum.every((count, other) => other === outcome || sum[outcome] > count);
    if (sum.every((count) => count === 0)) return false;
    if (wanted.outcome === "split") return sum.filter((count) => count > 0).length > 1;
    if (wanted.outcome === "tie") return sum[2] > 0;
    if (wanted.outcome === "both_bad") return sum[3] > 0;
    if (needsSide(wanted.outcome)) return side >= 0 && most(wanted.outcome === "win" ? side : 1 - side);
    return true;
  }

  function figure(image, alt, caption, won) {
    const made = make("figure", undefined, won ? "won" : "");
    if (image) {
      const picture = make("img");
      picture.loading = "lazy";
      picture.alt = alt;
      [picture.width, picture.height] = [image[1], image[2]];
      picture.src = `${root}images/${image[0]}`;
      made.append(picture);
    } else made.append(make("p", "image not published", "absent"));
    const words = make("figcaption");
    words.append(caption);
    if (won) words.append(make("b", "winner"));
    made.append(words);
    return made;
  }

  function modelLink(number) {
    const link = make("a", facts.models[number][0]);
    link.href = root + facts.models[number][1];
    return link;
  }

  function show(part, battle, wanted) {
    const item = part.items[battle[0]], names = [facts.models[battle[1]][0], facts.models[battle[2]][0]];
    const box = make("article", undefined, "battle");
    box.append(make("h2", item.instruction));
    const meaning = (value) => (item.codes && item.codes[value] ? ` (${item.codes[value]})` : "");
    const labels = Object.entries(item.labels).map(([name, value]) => `${name}: ${value}${meaning(value)}`);
    const sum = counts(battle, wanted.board), most = Math.max(...sum);
    const won = [0, 1].map((side) => sum[side] === most && sum.filter((count) => count === most).length === 1);
    box.append(make("p", [`Item ${item.key}`, item.turn, ...labels, item.credit].filter(Boolean).join(" · "), "note"));
    const images = make("div", undefined, "images");
    item.inputs.forEach(([caption, image]) => images.append(figure(image, `Image of ${item.key}: ${caption}`, caption)));
    [1, 2].forEach((side) =>
      images.append(figure(battle[2 + side], `Output of ${names[side - 1]} for ${item.key}`, modelLink(battle[side]), won[side - 1])));
    box.append(images);
    const list = make("ul", undefined, "verdicts");
    facts.boards.forEach((title, number) => {
      if (wanted.board !== "" && Number(wanted.board) !== number) return;
      const words = battle[5].filter(([board]) => board === number)
        .map(([, outcome, count]) => `${[...names, "tie", "both bad"][outcome]}${count > 1 ? ` × ${count}` : ""}`);
      if (words.length) list.append(make("li", `${title}: ${words.join(", ")}`));
    });
    box.append(list);
    return box;
  }

  function wantedNow() {
    const wanted = Object.fromEntries(new FormData($("explorer")));
    return { board: "", ...wanted };
  }

  async function search(more) {
    const mine = ++run, wanted = wantedNow(), total = facts.parts;
    if (!more) { $("battles").replaceChildren(); shown = 0; cursor = { part: 0, row: 0 }; }
    $("more").hidden = true;
    let left = STEP;
    try {
      while (cursor.part < total && left > 0) {
        $("state").textContent = `Searching part ${cursor.part + 1} of ${total} …`;
        const data = await load(cursor.part);
        if (mine !== run) return;
        for (; cursor.row < data.battles.length && left > 0; cursor.row += 1)
          if (fits(data, data.battles[cursor.row], wanted)) {
            $("battles").append(show(data, data.battles[cursor.row], wanted));
            shown += 1;
            left -= 1;
          }
        if (cursor.row >= data.battles.length) cursor = { part: cursor.part + 1, row: 0 };
      }
    } catch (error) {
      $("state").textContent = `The battles cannot be shown: ${error.message}. Is the folder complete?`;
      return;
    }
    const rest = restOf(wanted), free = Object.values(wanted).every((value) => value === "");
    const known = free || rest.unread === 0, all = (free ? facts.battles : shown + rest.found).toLocaleString("en");
    const ended = rest.unread === 0 && rest.found === 0;
    $("more").hidden = ended;
    if (ended) $("state").textContent = shown === 0 ? "No battle fits these filters."
      : `${all} matching ${shown === 1 ? "battle" : "battles"}, all shown.`;
    else $("state").textContent = `First ${shown.toLocaleString("en")} of ${known ? "" : "at least "}${all} matching battles.`;
  }

  // Matching battles that are not shown yet, and how many parts with battles were never loaded.
  function restOf(wanted) {
    let found = 0, unread = 0;
    for (let number = cursor.part; number < facts.parts; number += 1) {
      if (!parts[number]) { unread += 1; continue; }
      const from = number === cursor.part ? cursor.row : 0;
      for (const battle of parts[number].battles.slice(from)) if (fits(parts[number], battle, wanted)) found += 1;
    }
    return { found, unread };
  }

  // Nobody can have won or lost where no model is chosen.
  function limitResults() {
    const form = $("explorer"), open = form.elements.model.value !== "" || form.elements.opponent.value !== "";
    const field = form.elements.outcome;
    for (const option of field.options) if (needsSide(option.value)) option.disabled = !open;
    if (!open && needsSide(field.value)) field.value = "";
  }

  function readAddress() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    for (const field of $("explorer").elements) if (field.name) field.value = wanted.get(field.name) ?? "";
    limitResults();
  }

  function writeAddress() {
    const filled = Object.entries(wantedNow()).filter(([, value]) => value !== "");
    history.replaceState(null, "", `#${new URLSearchParams(filled)}`);
  }

  function start(given) {
    facts = given;
    readAddress();
    $("explorer").addEventListener("submit", (event) => event.preventDefault());
    $("explorer").addEventListener("input", () => { limitResults(); writeAddress(); search(false); });
    window.addEventListener("hashchange", () => { readAddress(); search(false); });
    $("more").addEventListener("click", () => search(true));
    search(false);
  }

  function boards() {
    document.querySelectorAll("select[data-go]").forEach((field) =>
      field.addEventListener("change", () => { location.href = field.value; }));
    document.querySelectorAll("input[data-filter]").forEach((field) =>
      field.addEventListener("input", () => {
        const name = field.dataset.filter, wanted = field.value.toLowerCase();
        let left = 0;
        document.querySelectorAll(`#${name} tbody tr`).forEach((row) => {
          row.hidden = !row.dataset.name.toLowerCase().includes(wanted);
          left += row.hidden ? 0 : 1;
        });
        document.querySelector(`[data-empty="${name}"]`).hidden = left > 0;
      }));
  }
  boards();
  return { start, part };
})();
