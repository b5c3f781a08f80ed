// The search of the site, and the buttons that copy, in the browser. search-index.js has the index.
import MiniSearch from "minisearch";

const field = document.querySelector("input[type=search]");
const list = document.querySelector(".results");
const most = 12;
/** Characters of the text that is found. */
const shown = 160;
let index;

/** Returns what surrounds the first word of a query in a text. */
function sentenceIn(text, query) {
  const at = Math.max(0, text.toLowerCase().indexOf(query.toLowerCase().split(/\s+/)[0]));
  const start = Math.max(0, text.lastIndexOf(". ", at) + 1, at - most * 8);
  return `${text.slice(start, start + shown).trim()}${start + shown < text.length ? " ..." : ""}`;
}

function show() {
  const query = field.value.trim();
  index ??= MiniSearch.loadJSON(globalThis.searchIndex, {
    fields: ["title", "page", "text"],
    storeFields: ["title", "page", "text"],
  });
  const found = index.search(query, { prefix: true, fuzzy: 0.15, boost: { title: 3, page: 2 }, combineWith: "AND" });
  list.replaceChildren(
    ...found.slice(0, most).map(({ id, title, page, text }) => {
      const link = document.createElement("a");
      link.href = id;
      link.textContent = title === page ? title : `${page}: ${title}`;
      const item = document.createElement("li");
      item.append(link, ` ${sentenceIn(text, query)}`);
      return item;
    }),
  );
  if (query !== "" && found.length === 0) list.textContent = "Nothing found.";
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
document.addEventListener("keydown", ({ key, target }) => {
  if (key === "Escape") list.hidden = true;
  if (key === "/" && target === document.body) setTimeout(() => field.focus());
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
document.querySelector("nav details").open = matchMedia("(min-width: 900px)").matches;
