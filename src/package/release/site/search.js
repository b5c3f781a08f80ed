// The search of the site, in the browser. search-index.js has the index.
import MiniSearch from "minisearch";

const field = document.querySelector("input[type=search]");
const list = document.querySelector(".results");
const most = 12;
let index;

function show() {
  const query = field.value.trim();
  index ??= MiniSearch.loadJSON(globalThis.searchIndex, {
    fields: ["title", "page", "text"],
    storeFields: ["title", "page"],
  });
  const found = index.search(query, { prefix: true, fuzzy: 0.15, boost: { title: 3, page: 2 }, combineWith: "AND" });
  list.replaceChildren(
    ...found.slice(0, most).map(({ id, title, page }) => {
      const link = document.createElement("a");
      link.href = id;
      link.textContent = title === page ? title : `${page}: ${title}`;
      const item = document.createElement("li");
      item.append(link);
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
// Wide windows have room for the menu.
document.querySelector("nav details").open = matchMedia("(min-width: 900px)").matches;
