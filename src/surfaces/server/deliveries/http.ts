/** What the doors of the server and of the set-up page have in common: how they listen, close, and answer plainly, and who asks by which name. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { type AddressInfo, isIP } from "node:net";

/** `/healthz`: the process answers. `/readyz`: everything was looked at once, and it is not about to stop. */
export function health(path: string, state: () => string): [number, string] | undefined {
  if (path === "/healthz") return [200, "ok"];
  if (path !== "/readyz") return undefined;
  const now = state();
  return now === "ready" ? [200, "ok"] : [503, `not ready: ${now}`];
}

export function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" }).end(`${text}\n`);
}

/**
 * Whether a request names one of our own hosts. A page that lets its own name point here would be one with ours to a browser; it can have
 * no address for a name.
 */
export function isOwnHost({ headers: { host = "" } }: Pick<IncomingMessage, "headers">, own: readonly string[] = []): boolean {
  const name = nameIn(host);
  if (isAddress(name)) return true;
  return name === "localhost" || own.some((one) => one.toLowerCase() === name);
}

/**
 * Whether a request comes by the name at which people reach the page from outside, who may be anybody. At an address of this machine's own, or
 * `localhost`, nobody is outside.
 */
export function isByPublicName({ headers }: Pick<IncomingMessage, "headers">, publicUrl: string | undefined): boolean {
  const name = publicUrl === undefined ? "localhost" : nameIn(new URL(publicUrl).host);
  if (name === "localhost" || isAddress(name)) return false;
  const given = [headers.host, headers["x-forwarded-host"]].flat().flatMap((one) => one?.split(",") ?? []);
  return given.some((one) => nameIn(one.trim()) === name);
}

function nameIn(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
}

function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[|\]$/g, "")) !== 0;
}

export function pathOf(request: IncomingMessage): string {
  return (request.url ?? "").split("?")[0] ?? "";
}

/** Resolves to the base URL once it listens. */
export async function listenOn(server: Server, port: number, host: string): Promise<string> {
  server.requestTimeout = 30_000;
  server.headersTimeout = 10_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { address, port: taken } = server.address() as AddressInfo;
  return `http://${address.includes(":") ? `[${address}]` : address}:${taken}`;
}

/** Takes nothing new; answers what is under way, for at most a second. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    // Pages keep a line open for ever; deliveries are answered in milliseconds.
    setTimeout(() => server.closeAllConnections(), 1000).unref();
  });
}
