/** Covers the proxies of `src/package/deploy/proxies`, as far as they are installed: API and dashboard work through each. */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { afterFile } from "../support/clean-up.js";
import { linkTo, postForm, tokenOf } from "../support/dashboard.js";
import { freePort } from "../support/free-port.js";
import { haproxyFile } from "../support/haproxy.js";
import { hasProgram } from "../support/programs.js";
import { createKey, post, type Service, serve } from "../support/service.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const read = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../src/package/deploy/proxies/${name}`, import.meta.url)), "utf8");

/** Replaces a part of a file, which must be in it. */
function replaced(text: string, changes: readonly (readonly [string | RegExp, string])[]): string {
  return changes.reduce((text, [from, to]) => {
    const after = text.replace(from, to);
    expect(after, String(from)).not.toBe(text);
    return after;
  }, text);
}

type Start = (folder: string, port: number, server: string) => readonly [program: string, args: string[]];

function nginx(folder: string, port: number, server: string, change = (text: string) => text) {
  const site = replaced(read("nginx.conf"), [
    ["listen 443 ssl http2", `listen 127.0.0.1:${port}`],
    [/ssl_certificate .*\n/, "\n"],
    [/ssl_certificate_key .*\n/, "\n"],
    ["127.0.0.1:8787", server],
  ]);
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(" ");
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; pid ${folder}/pid; error_log ${folder}/error;\nevents {}\nhttp { access_log off; ${paths}\n${change(site)} }\n`,
  );
  return ["nginx", ["-e", `${folder}/error`, "-c", join(folder, "nginx.conf")]] as const;
}

const proxies: Readonly<Record<string, Start>> = {
  nginx: (folder, port, server) => {
    const [program, args] = nginx(folder, port, server);
    return [program, [...args]];
  },
  caddy(folder, port, server) {
    const site = replaced(read("Caddyfile"), [
      ["validation.example.com", `http://127.0.0.1:${port}`],
      ["127.0.0.1:8787", server],
    ]);
    writeFileSync(join(folder, "Caddyfile"), `{\n\tadmin off\n}\n${site}`);
    return ["caddy", ["run", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")]];
  },
  haproxy(folder, port, server) {
    return ["haproxy", ["-db", "-f", haproxyFile(folder, port, [server, server])]];
  },
};

const home = temporaryFolder();
let service: Service;
let key: string;
beforeAll(async () => {
  service = await serve(home, "-q");
  key = await createKey(home);
});

async function start(from: Start): Promise<string> {
  const [folder, port] = [temporaryFolder(), await freePort()];
  mkdirSync(join(folder, "home"));
  const [program, args] = from(folder, port, new URL(service.url).host);
  const child = spawn(program, args, { stdio: "ignore", env: { ...process.env, HOME: join(folder, "home") } });
  afterFile(() => child.kill("SIGTERM"));
  const url = `http://127.0.0.1:${port}`;
  const status = () =>
    fetch(`${url}/healthz`).then(
      (response) => response.status,
      () => 0,
    );
  await expect.poll(status).toBe(200);
  return url;
}

/** Signs in as a browser does, and returns the status and the page. */
async function signIn(url: string): Promise<readonly [number, string]> {
  const response = await postForm(url, "/sign-in", tokenOf(await linkTo(url, [], { home })));
  return [response.status, await response.text()];
}

describe.each(Object.entries(proxies))("behind %s", (name, from) => {
  test.skipIf(!hasProgram(name))("requests are answered, people sign in, and metrics stay inside", async () => {
    const url = await start(from);
    const { body } = await post(`${url}/emails/validate`, key, { emails: ["a@mailinator.com"] });
    expect(body).toEqual({ emails: { "a@mailinator.com": { status: "disposable" } } });
    expect((await signIn(url))[0]).toBe(303);
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
  });
});

test.skipIf(!hasProgram("nginx"))("a proxy that replaces Host is named as the reason of a refused form", async () => {
  const url = await start((folder, port, server) => {
    const [program, args] = nginx(folder, port, server, (text) =>
      replaced(text, [[/proxy_set_header Host .*\n/, "\n"]]),
    );
    return [program, [...args]];
  });
  expect(await signIn(url)).toEqual([403, expect.stringContaining(`or starts it with --base-url ${url}`)]);
});

test("the file for Traefik names a router, a service and the probe", () => {
  const { http } = parse(read("traefik.yaml"));
  expect(http.routers.idv.service).toBe("idv");
  expect(http.services.idv.loadBalancer.healthCheck.path).toBe("/readyz");
});
