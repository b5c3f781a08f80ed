// The search of the site, and the buttons that copy, in the browser. search-index.js has the index.
import MiniSearch from "minisearch";

const field = document.querySelector("input[type=search]");
const list = document.querySelector(".results");
const most = 12;
/** Length of the longest sentence that is shown whole, and of a part of a longer one. */
const longest = 280;
const shown = 160;
let index;

/** Returns the sentence around the longest word of a query that a text has; the start of the text if it has none. */
function sentenceIn(text, query) {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .sort((a, b) => b.length - a.length);
  const lower = text.toLowerCase();
  const at = Math.max(0, lower.indexOf(words.find((word) => lower.includes(word)) ?? ""));
  const sentence = text.lastIndexOf(". ", at) + 1;
  const end = text.indexOf(". ", at);
  const whole = text.slice(sentence, end === -1 ? text.length : end + 1).trim();
  if (whole.length <= longest) return whole;
  // Of a long sentence, a part that starts with a word.
  const start = at - sentence < shown / 2 ? sentence : text.indexOf(" ", at - shown / 2);
  const part = text.slice(start, start + shown).trim();
  return start + shown < text.length ? `${part.replace(/\s\S*$/, "")} ...` : part;
}

function show() {
  const query = field.value.trim();
  index ??= MiniSearch.loadJSON(globalThis.searchIndex, {
    fields: ["title", "page", "text", "words"],
    storeFields: ["title", "page", "text"],
  });
  const options = { prefix: true, fuzzy: 0.15, boost: { title: 3, page: 2, words: 2 } };
  const all = index.search(query, { ...options, combineWith: "AND" });
  // In a question, some words are in no text.
  const found = all.length > 0 ? all : index.search(query, options);
  const items = document.createElement("ul");
  items.append(
    ...found.slice(0, most).map(({ id, title, page, text }) => {
      const link = document.createElement("a");
      link.href = id;
      link.textContent = title === page ? title : `${page}: ${title}`;
      const item = document.createElement("li");
      item.append(link, ` ${sentenceIn(text, query)}`);
      return item;
    }),
  );
  list.replaceChildren(found.length > 0 ? items : "Nothing found.");
  list.hidden = query === "";
}

field.addEventListener("input", show);
list.addEventListener("click", () => {
  list.hidden = true;
});
document.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  list.querySelector("a")?.click();
});
document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (key === "Escape") list.hidden = true;
  if (key === "/" && target === document.body) setTimeout(() => field.focus());
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  const places = [field, ...list.querySelectorAll("a")];
  if (step === undefined || list.hidden || !places.includes(target)) return;
  event.preventDefault();
  places[places.indexOf(target) + step]?.focus();
});
// Browsers give the clipboard to pages from https and from this machine only.
if (navigator.clipboard !== undefined) {
  for (const block of document.querySelectorAll("main pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(block.textContent);
      button.textContent = "Copied";
    });
    const box = document.createElement("div");
    box.className = "copied";
    block.replaceWith(box);
    box.append(block, button);
  }
}
// Wide windows have room for the menu.
const wide = matchMedia("(min-width: 900px)");
const openMenu = () => {
  document.querySelector("nav details").open = wide.matches;
};
wide.addEventListener("change", openMenu);
openMenu();
