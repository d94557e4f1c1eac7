/** Slack, a Teams Workflow, a receiver of CloudEvents and a mail server on this machine, which take what the real ones publish that they take. */
import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import type { KnownBlock } from "@slack/types";
import { listen } from "../../src/sim/listen.ts";
import { cloudEventProblems, slackProblems, teamsProblems } from "./notify-shapes.ts";

export const SLACK_TOKEN = "xoxb-this-is-a-secret";
export const HOOK_SECRET = "the secret of the webhook";

interface SlackPost {
  channel: string;
  text: string;
  blocks: KnownBlock[];
  ts: string;
  thread_ts?: string;
  reply_broadcast?: boolean;
}

export interface Services {
  url: string;
  /** Messages as they stand now, by their time. */
  slack: Map<string, SlackPost>;
  /** How often a message was changed. */
  updates: number;
  hooks: { path: string; body: unknown; headers: IncomingMessage["headers"] }[];
  mails: string[];
  smtpPort: number;
  /** What was sent and is not in the shape that is published. */
  problems: string[];
  /** What is answered instead, one after the other. */
  faults: { status: number; headers?: Record<string, string>; body?: string }[];
  close(): Promise<void>;
}

export async function startServices(): Promise<Services> {
  const services: Services = {
    url: "",
    slack: new Map(),
    updates: 0,
    hooks: [],
    mails: [],
    smtpPort: 0,
    problems: [],
    faults: [],
    close: async () => undefined,
  };
  const server = createServer((request, response) => void answer(services, request, response));
  const http = await listen(server);
  const smtp = createSocketServer((socket) => {
    let mail: string | undefined;
    let text = "";
    socket.on("error", () => undefined);
    socket.write("220 mail.local ESMTP\r\n");
    socket.on("data", (part) => {
      text += String(part);
      for (;;) {
        const end = mail === undefined ? text.indexOf("\r\n") : text.indexOf("\r\n.\r\n");
        if (end < 0) return;
        const line = text.slice(0, end);
        text = text.slice(end + (mail === undefined ? 2 : 5));
        if (mail !== undefined) {
          services.mails.push(line);
          mail = undefined;
          socket.write("250 2.0.0 Ok: queued as 1\r\n");
        } else if (/^EHLO/i.test(line)) socket.write("250-mail.local\r\n250 8BITMIME\r\n");
        else if (/^DATA/i.test(line)) {
          mail = "";
          socket.write("354 End data with <CR><LF>.<CR><LF>\r\n");
        } else if (/^STARTTLS/i.test(line)) socket.write("502 5.5.1 Error: command not implemented\r\n");
        else if (/^QUIT/i.test(line)) socket.end("221 Bye\r\n");
        else socket.write("250 Ok\r\n");
      }
    });
  });
  await new Promise<void>((resolve) => smtp.listen(0, "127.0.0.1", resolve));
  services.url = http.url;
  services.smtpPort = (smtp.address() as AddressInfo).port;
  services.close = async () => {
    await Promise.all([http.close(), new Promise((resolve) => smtp.close(resolve))]);
  };
  return services;
}

async function answer(services: Services, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = "";
  for await (const part of request) text += String(part);
  const fault = services.faults.shift();
  if (fault !== undefined) {
    response.writeHead(fault.status, fault.headers).end(fault.body ?? "");
    return;
  }
  const body = JSON.parse(text) as Record<string, unknown>;
  const path = request.url ?? "";
  const problem = (all: readonly string[]) => services.problems.push(...all.map((one) => `${path}: ${one}`));
  if (path.startsWith("/api/")) {
    const isOurs = request.headers.authorization === `Bearer ${SLACK_TOKEN}`;
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify(isOurs ? slack(services, path, body as unknown as SlackPost, problem) : { ok: false, error: "invalid_auth" }),
    );
    return;
  }
  services.hooks.push({ path, body, headers: request.headers });
  if (path === "/teams") problem(teamsProblems(body));
  if (path === "/slack-hook") problem(slackProblems(body as unknown as SlackPost));
  if (path.startsWith("/events")) problem(eventProblems(text, body, request.headers));
  response.writeHead(path === "/teams" ? 202 : 200).end(path === "/slack-hook" ? "ok" : "");
}

function slack(services: Services, path: string, body: SlackPost, problem: (all: readonly string[]) => void): object {
  problem(slackProblems(body));
  if (path === "/api/chat.update") {
    const old = services.slack.get(body.ts);
    if (old === undefined) return { ok: false, error: "message_not_found" };
    services.updates += 1;
    services.slack.set(body.ts, { ...old, text: body.text, blocks: body.blocks });
    return { ok: true, channel: body.channel, ts: body.ts, text: body.text };
  }
  if (path !== "/api/chat.postMessage") return { ok: false, error: "unknown_method" };
  if (body.thread_ts !== undefined && !services.slack.has(body.thread_ts)) return { ok: false, error: "thread_not_found" };
  const ts = `1700000000.${String(services.slack.size + 1).padStart(6, "0")}`;
  services.slack.set(ts, { ...body, ts });
  return { ok: true, channel: body.channel, ts, message: { text: body.text, type: "message", ts } };
}

function eventProblems(text: string, body: Record<string, unknown>, headers: IncomingMessage["headers"]): string[] {
  const isSigned = headers["x-stagecoach-signature-256"] === `sha256=${createHmac("sha256", HOOK_SECRET).update(text).digest("hex")}`;
  const isBinary = headers["content-type"] === "application/json";
  const named = Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith("ce-") ? [[name.slice(3), decodeURIComponent(String(value))] as const] : [],
  );
  const event = isBinary ? { ...Object.fromEntries(named), datacontenttype: "application/json", data: body } : body;
  return [...(isSigned ? [] : ["not signed"]), ...cloudEventProblems(event)];
}
