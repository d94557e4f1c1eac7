import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server on loopback whose answers a test sets. */
export interface Answering {
  url: string;
  /** `127.0.0.1:PORT`, as an allow-list has it. */
  host: string;
  requests: { method: string; url: string; headers: IncomingMessage["headers"]; body: string }[];
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  close(): Promise<void>;
}

export async function startAnswering(answer: Answering["answer"]): Promise<Answering> {
  const made: Answering = { url: "", host: "", requests: [], answer, close: async () => undefined };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => {
      body += String(part);
    });
    request.on("end", () => {
      made.requests.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body });
      made.answer(request, response);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  made.host = `127.0.0.1:${port}`;
  made.url = `http://${made.host}`;
  made.close = () =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return made;
}

export function json(value: unknown): Answering["answer"] {
  return (_, response) => {
    response.setHeader("content-type", "application/json");
    response.end(typeof value === "string" ? value : JSON.stringify(value));
  };
}
