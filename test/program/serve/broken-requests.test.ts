/** Covers requests that are not as they should be, and connections that end early: a charged request gets its answer. */
import { once } from "node:events";
import { connect } from "node:net";
import { beforeAll, expect, test } from "vitest";
import { createKey, request, type Service, serve } from "../../support/service.js";
import { jsonOf } from "../../support/states.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const home = temporaryFolder();
let service: Service;
beforeAll(async () => {
  service = await serve(home, "-q");
});

const used = async (name: string): Promise<number> =>
  (await jsonOf(["keys", "list"], { home })).find((key: { name: string }) => key.name === name).used;

const json = { "content-type": "application/json" };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const validating = (key: string) =>
  `POST /emails/validate HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 21\r\n\r\n{"emails":["a@b.co"]}`;

/** Sends bytes, half-closes the connection if wanted, and returns the statuses of all answers until it is closed. */
async function statusesOf(bytes: string, isHalfClosed = false): Promise<readonly number[]> {
  const { hostname, port } = new URL(service.url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  socket.on("error", () => {});
  await once(socket, "connect");
  let text = "";
  socket.setEncoding("latin1").on("data", (part: string) => {
    text += part;
  });
  if (isHalfClosed) socket.end(bytes);
  else socket.write(bytes);
  await once(socket, "end");
  socket.destroy();
  return Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status));
}

test("a client that closes its side gets the answer that it is charged for", async () => {
  const key = await createKey(home, { name: "half" });
  expect(await statusesOf(validating(key), true)).toEqual([200]);
  expect(await used("half")).toBe(1);
});

test("an answer comes before that to broken HTTP behind it", async () => {
  const key = await createKey(home, { name: "broken" });
  expect(await statusesOf(`${validating(key)}x y\r\n\r\n`)).toEqual([200, 400]);
});

test("an answer comes before that to a CONNECT behind it", async () => {
  const key = await createKey(home, { name: "tunnel" });
  expect(await statusesOf(`${validating(key)}CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n`)).toEqual([200, 405]);
});

test("a request that was refused before its body has one answer, however the body goes on", async () => {
  const head = "POST /emails/validate HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  expect(await statusesOf(`${head}1\r\nx\r\nno chunk\r\n`)).toHaveLength(1);
});

test("of too many requests on a connection, those that are charged are answered", async () => {
  const key = await createKey(home, { name: "pipelined" });
  const answers = await statusesOf(validating(key).repeat(130));
  expect(answers).toEqual(Array(100).fill(200));
  expect(await used("pipelined")).toBe(100);
});

test.each([
  ["/emails/validate", {}],
  ["/domains/validate", json],
  ["/emails/bigquery", {}],
  ["/emails/snowflake", json],
])("a POST to %s without a body is a bad request", async (path, headers) => {
  const key = await createKey(home);
  const own = { ...bearer(key), ...headers, "sf-custom-idv-key": key };
  expect(await request(service.url + path, { method: "POST", headers: own })).toMatchObject({ status: 400 });
});

test.each([true, { a: 1 }, ["a@b.co"], 1])("%j is no item of Snowflake", async (item) => {
  const headers = { ...json, "sf-custom-idv-key": await createKey(home) };
  const body = JSON.stringify({ data: [[0, item]] });
  expect(await request(`${service.url}/emails/snowflake`, { method: "POST", headers, body })).toMatchObject({
    status: 400,
    body: { message: "data: each row is its number and a text." },
  });
});

test("HEAD gets no verdict, and is not charged", async () => {
  const key = await createKey(home, { name: "head" });
  const url = `${service.url}/emails/check?address=ann@larch-and-oak.com`;
  expect((await fetch(url, { method: "HEAD", headers: bearer(key) })).status).toBe(405);
  expect(await used("head")).toBe(0);
});

test("a list is removed by a request that names JSON and has no body, and the key comes before the body", async () => {
  const key = await createKey(home);
  const sent = await request(`${service.url}/lists`, { method: "POST", headers: bearer(key), body: "email\na@b.co\n" });
  const url = `${service.url}/lists/${sent.body.id}`;
  expect((await request(url, { method: "DELETE", headers: json, body: "{" })).status).toBe(401);
  expect((await fetch(url, { method: "DELETE", headers: { ...json, ...bearer(key) } })).status).toBe(204);
});

test("a list whose upload has stalled is removed at once", async () => {
  const key = await createKey(home);
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname).on("error", () => {});
  await once(socket, "connect");
  socket.write(
    `POST /lists HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: 100000\r\n\r\nemail\na@b.co\n`,
  );
  const lists = async () => (await request(`${service.url}/lists`, { headers: bearer(key) })).body.lists;
  await expect.poll(lists).toHaveLength(1);
  const [{ id }] = await lists();
  const signal = AbortSignal.timeout(5000);
  expect((await fetch(`${service.url}/lists/${id}`, { method: "DELETE", headers: bearer(key), signal })).status).toBe(
    204,
  );
  socket.destroy();
});

test.each([
  ["Host: a b/c", 400],
  ["Host: x\r\nTransfer-Encoding: gzip, chunked", 501],
])("%j is refused with %i", async (fields, status) => {
  expect(await statusesOf(`GET /healthz HTTP/1.1\r\n${fields}\r\nConnection: close\r\n\r\n0\r\n\r\n`)).toContain(
    status,
  );
});

test("a wrong key is answered to a client that sends a large body first", async () => {
  const body = "x".repeat(4_000_000);
  const head = `POST /emails/validate HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\nConnection: close\r\n`;
  for (let i = 0; i < 5; i++) {
    expect(await statusesOf(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)).toEqual([401]);
  }
});
