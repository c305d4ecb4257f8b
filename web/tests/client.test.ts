/// <reference types="node" />
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asApiError, dataOf, makeApi, setCsrf, type ApiError } from "../src/api/client";
import { readPages } from "../src/api/usepages";
import { english, fill } from "../src/languages";

let server: Server;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let seen: { method: string | undefined; url: string | undefined; csrf: string | string[] | undefined; body: string };
let api: ReturnType<typeof makeApi>;

const json = (status: number, body: unknown, headers: Record<string, string> = {}) => (_: IncomingMessage, response: ServerResponse) => {
  response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
};
const errorOf = async (call: Promise<unknown>): Promise<ApiError> => call.then(() => { throw new Error("no error"); }, asApiError);

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      seen = { method: request.method, url: request.url, csrf: request.headers["x-csrf-token"], body };
      answer(request, response);
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  api = makeApi(`http://127.0.0.1:${(server.address() as AddressInfo).port}/arena`);
});
afterAll(() => server.close());

describe("a request", () => {
  it("goes below the arena's path, with encoded parts and without what is null", async () => {
    answer = json(200, { raters: [] });
    const params = { path: { campaign_id: "a b/c" }, query: { cursor: null, limit: 200 } };
    expect(await dataOf(api.GET("/api/lead/campaigns/{campaign_id}/raters", { params }))).toEqual({ raters: [] });
    expect(seen).toMatchObject({ method: "GET", url: "/arena/api/lead/campaigns/a%20b%2Fc/raters?limit=200", csrf: undefined });
  });
  it("that changes something carries the token", async () => {
    answer = json(200, { accepted: true });
    setCsrf("secret");
    await dataOf(api.POST("/api/tasks/{address}/skip", { params: { path: { address: "t" } }, body: { reason: "offensive" } }));
    expect(seen).toMatchObject({ method: "POST", csrf: "secret", body: '{"reason":"offensive"}' });
  });
});

describe("a refusal", () => {
  it("is an error with the server's words", async () => {
    answer = json(503, { code: "database_away", message: "The database is away.", hint: "Wait." }, { "Retry-After": "7" });
    const error = await errorOf(dataOf(api.GET("/api/me")));
    expect(error).toMatchObject({ status: 503, code: "database_away", message: "The database is away.", hint: "Wait.", retryAfterS: 7, passing: true });
    expect(error.againMs).toBe(7000);
  });
  it("without words, such as a proxy's, is told by its number", async () => {
    answer = (_, response) => response.writeHead(418, { "Content-Type": "text/html" }).end("<h1>No</h1>");
    expect(await errorOf(dataOf(api.GET("/api/me")))).toMatchObject({ status: 418, code: "unknown", message: fill(english.errors.unknown, { status: 418 }), passing: false });
  });
});

describe("a connection that breaks", () => {
  it("before or in the middle of an answer is offline, and passes", async () => {
    answer = (request) => request.socket.destroy();
    expect(await errorOf(dataOf(api.GET("/api/me")))).toMatchObject({ code: "offline", passing: true });
    answer = (request, response) => {
      response.writeHead(200, { "Content-Type": "application/json", "Content-Length": "100" }).write("{");
      setTimeout(() => request.socket.destroy(), 20);
    };
    expect(await errorOf(dataOf(api.GET("/api/me")))).toMatchObject({ code: "offline", passing: true });
  });
  it("by its own time limit is offline too", async () => {
    answer = () => undefined;
    expect(await errorOf(dataOf(api.POST("/api/session/launch", { body: { token: "x" }, signal: AbortSignal.timeout(30) })))).toMatchObject({ code: "offline" });
  });
});

describe("pages of a list", () => {
  const all = Array.from({ length: 5 }, (_, at) => ({ at, next_cursor: at < 4 ? String(at + 1) : null }));
  const load = (cursor: string | null) => Promise.resolve(all[Number(cursor ?? 0)]!);
  it("are read as far as they are wanted, or as they go", async () => {
    expect((await readPages(load, 1)).map((page) => page.at)).toEqual([0]);
    expect((await readPages(load, 3)).map((page) => page.at)).toEqual([0, 1, 2]);
    expect((await readPages(load, 9)).map((page) => page.at)).toEqual([0, 1, 2, 3, 4]);
  });
  it("go on from those that are there", async () => {
    expect((await readPages(load, 3, all.slice(0, 2))).map((page) => page.at)).toEqual([0, 1, 2]);
    expect(await readPages(load, 9, all)).toEqual(all);
  });
});
