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
    script.onerror = () => {
      script.remove();
      globalThis.smallTable = undefined;
      reject(new Error("the table of domains could not be loaded"));
    };
    document.head.append(script);
  });
  return globalThis.smallTable;
}

// A fault is shown when the item is sent.
field.addEventListener("focus", () => loadTable().catch(() => {}), { once: true });
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const item = field.value.trim() || field.placeholder;
  field.value = item;
  try {
    await loadTable();
  } catch (error) {
    said.className = "fake";
    said.textContent = `Cannot check: ${error.message}. Try again.`;
    return;
  }
  const isAddress = item.includes("@");
  const host = !isAddress && URL.canParse(item) ? new URL(item).hostname : item;
  const {
    status,
    reason = isAddress ? undefined : "a domain",
    suggestion,
  } = isAddress ? classifyEmail(item) : classifyDomain(host);
  said.className = status;
  said.textContent = `${status}${reason ? `: ${reason}` : ""}${suggestion ? `. Did you mean ${suggestion}?` : ""}`;
});
