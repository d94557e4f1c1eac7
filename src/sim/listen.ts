import { once } from "node:events";
import type { IncomingMessage, Server } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { AddressInfo } from "node:net";

/** Where a server of the embedded world is reached, and how it ends. */
interface Listening {
  url: string;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** Opens the socket of a server: on any free port where that is 0. */
export async function listen(server: Server | TlsServer, port = 0, host = "127.0.0.1"): Promise<Listening> {
  server.listen(port, host);
  await once(server, "listening");
  const scheme = "setSecureContext" in server ? "https" : "http";
  return {
    url: `${scheme}://${host.includes(":") ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** What is asked for. Only the path counts: one such as `//[` leads to no other host, and is no mistake in an address. */
export function requestUrl({ url = "/" }: IncomingMessage): URL {
  return new URL(`http://localhost${url.startsWith("/") ? url : "/"}`);
}

/** The body of a request; undefined: it is larger than `most` bytes. */
export async function bodyWithin(request: IncomingMessage, most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > most) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
