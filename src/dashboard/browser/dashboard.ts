/** Script of the pages, which work without it, too: Copy, times in the reader's zone, and the progress of an upload. */

for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset["copy"] ?? "");
    button.textContent = "Copied";
  });
}

for (const time of document.querySelectorAll("time")) {
  const options = { dateStyle: "medium", timeStyle: "short" } as const;
  time.textContent = new Date(time.dateTime).toLocaleString(undefined, options);
}

const form = document.querySelector<HTMLFormElement>("form[data-upload]");
form?.addEventListener("submit", (event) => {
  event.preventDefault();
  const bar = form.querySelector("progress")!;
  const said = form.querySelector("output")!;
  bar.hidden = false;
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
      said.textContent = page.querySelector(".fault")?.textContent ?? "The list was not taken.";
      bar.hidden = true;
    }
  });
  request.addEventListener("error", () => {
    said.textContent = "The connection broke: try again.";
  });
  request.send(new FormData(form));
});
