// The box on the first page, in the browser: it classifies an item with the table of idv/browser/small, and sends it nowhere.
import { classifyDomain, classifyEmail, loadTables } from "../../../../dist/browser/small.js";

const form = document.querySelector("form.try");
const field = form.querySelector("input");
const said = form.querySelector("output");

/** The table is a script of its own, since browsers load nothing else beside a file on the disk. */
function loadTable() {
  globalThis.smallTable ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = "try-table.js";
    script.onload = () =>
      resolve(loadTables(Uint8Array.from(atob(globalThis.smallTableText), (each) => each.charCodeAt(0))));
    script.onerror = reject;
    document.head.append(script);
  });
  return globalThis.smallTable;
}

field.addEventListener("focus", loadTable, { once: true });
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const item = field.value.trim() || field.placeholder;
  field.value = item;
  await loadTable();
  const { status, reason, suggestion } = item.includes("@") ? classifyEmail(item) : classifyDomain(item);
  said.className = status;
  said.textContent = `${status}${reason ? `: ${reason}` : ""}${suggestion ? `. Did you mean ${suggestion}?` : ""}`;
});
