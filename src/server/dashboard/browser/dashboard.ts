/** Script of the pages, which work without it, too: Copy, the values of a chart, and the progress of uploads and checks. */

for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset["copy"] ?? "");
    button.textContent = "Copied";
  });
}

for (const chart of document.querySelectorAll<HTMLElement>("[data-chart]")) {
  const said = chart.querySelector("output")!;
  // A slider, which browsers and screen readers know: the arrow keys choose the columns.
  const slider = chart.querySelector("svg")!;
  slider.tabIndex = 0;
  const columns = [...chart.querySelectorAll<SVGRectElement>(".hits rect")];
  let chosen = columns.length - 1;
  const choose = (index: number) => {
    columns[chosen]!.classList.remove("chosen");
    chosen = Math.max(0, Math.min(columns.length - 1, index));
    columns[chosen]!.classList.add("chosen");
    said.textContent = columns[chosen]!.textContent;
    slider.setAttribute("aria-valuenow", String(chosen));
    slider.setAttribute("aria-valuetext", said.textContent);
  };
  const states = { role: "slider", "aria-valuemin": 0, "aria-valuemax": columns.length - 1, "aria-valuenow": chosen };
  for (const [name, value] of Object.entries(states)) slider.setAttribute(name, String(value));
  chart.addEventListener("pointerover", ({ target }) => {
    const index = columns.indexOf(target as SVGRectElement);
    if (index >= 0) choose(index);
  });
  slider.addEventListener("focus", () => choose(chosen));
  slider.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    choose(chosen + step);
  });
}

const form = document.querySelector<HTMLFormElement>("form[data-upload]");
const file = form?.querySelector<HTMLInputElement>("input[type=file]");
if (file) {
  // Elsewhere on the page, the browser would open the file in its place.
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    const [first] = event.dataTransfer?.files ?? [];
    if (first === undefined) return;
    const one = new DataTransfer();
    one.items.add(first);
    file.files = one.files;
  });
}
form?.addEventListener("submit", (event) => {
  event.preventDefault();
  const bar = form.querySelector("progress")!;
  const said = form.querySelector("output")!;
  bar.hidden = false;
  said.className = "";
  const fail = (why: string) => {
    said.textContent = why;
    said.className = "fault";
    bar.hidden = true;
  };
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    bar.max = total;
    bar.value = loaded;
    said.textContent = loaded < total ? `${Math.floor((100 * loaded) / total)} % sent` : "Reading the list";
  });
  request.addEventListener("load", () => {
    if (request.status < 400) location.assign(request.responseURL);
    else {
      const page = new DOMParser().parseFromString(request.responseText, "text/html");
      fail(page.querySelector(".fault")?.textContent ?? "The list was not taken.");
    }
  });
  request.addEventListener("error", () => fail("The connection broke: try again."));
  request.send(new FormData(form));
});

/** Whether a form was sent, and its page is to come: loading this one again would cancel that request. */
let isSent = false;
document.addEventListener("submit", ({ defaultPrevented }) => {
  isSent ||= !defaultPrevented;
});

const followed = document.querySelector("[data-follow]");

/** Shows the progress of a check; the page of its end comes whole. */
async function follow(box: Element): Promise<void> {
  for (;;) {
    await new Promise((done) => setTimeout(done, 1000));
    const text = await fetch(location.href).then(
      (response) => response.text(),
      () => undefined,
    );
    // The connection may come back.
    if (text === undefined) continue;
    if (isSent) return;
    const next = new DOMParser().parseFromString(text, "text/html").querySelector("[data-follow]");
    if (next === null) return location.reload();
    if (box.innerHTML !== next.innerHTML) box.replaceChildren(...next.childNodes);
  }
}

if (followed !== null) void follow(followed);
