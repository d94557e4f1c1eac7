/** Sends e-mail by SMTP, with Nodemailer over a socket of ours: its address is looked at as any other, and what is read of it is bounded. */
import { createHash } from "node:crypto";
import { connect, type Socket } from "node:net";
import { defined } from "../../core/base/defined.ts";
import { errorText } from "../../core/base/error-text.ts";
import { mailOf } from "../../core/report/notify/mail.ts";
import { sentenceOf } from "../../core/report/reasons/say.ts";
import { lookupFor, OutboundError } from "../outbound/outbound.ts";
import { NotSent, type Sender } from "./port.ts";
import type { PostOptions } from "./post.ts";

interface MailOptions {
  host: string;
  port: number;
  /** `none`: the connection is not secured, and no password is sent. */
  tls: "implicit" | "starttls" | "none";
  user: string | undefined;
  password: () => string | undefined;
  from: string;
  to: readonly string[];
}

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 262_144;
const MOST_MESSAGES = 10;

export function mail(options: MailOptions, limits: PostOptions): Sender {
  const { host, port, tls, user, password, from, to } = options;
  const { timeoutMs = TIMEOUT_MS } = limits;

  function open(): { socket: Socket; connected: Promise<void> } {
    const rule = limits.networks === undefined ? { host } : { host, networks: limits.networks };
    const socket = connect({ host, port, lookup: lookupFor(limits, rule) });
    let bytes = 0;
    socket.on("data", (part: Buffer) => {
      bytes += part.length;
      if (bytes > MAX_BYTES) socket.destroy(new Error("the mail server says more than it may"));
    });
    // What it says first is for who uses it.
    socket.pause();
    const connected = new Promise<void>((resolve, reject) => {
      socket.on("error", reject);
      socket.once("connect", resolve);
    });
    return { socket, connected };
  }

  return {
    most: MOST_MESSAGES,
    async send(notice) {
      const hash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 32);
      const { references, ...message } = mailOf(notice, from, hash);
      const deadline = Promise.withResolvers<never>();
      deadline.promise.catch(() => undefined);
      const { socket, connected } = open();
      const timer = setTimeout(() => deadline.reject(new NotSent("it did not answer in time", true)), timeoutMs);
      try {
        await Promise.race([connected, deadline.promise]);
        const { createTransport } = await import("nodemailer");
        const pass = tls === "none" ? undefined : password();
        const transport = createTransport({
          ...{ host, port, connection: socket, secure: tls === "implicit", requireTLS: tls === "starttls", ignoreTLS: tls === "none" },
          ...(user === undefined || pass === undefined ? {} : { auth: { user, pass } }),
          // Nothing of a message names a file or an address to be read.
          ...{ disableFileAccess: true, disableUrlAccess: true, greetingTimeout: timeoutMs, socketTimeout: timeoutMs },
        });
        const thread = defined({ references, inReplyTo: references });
        const sent = transport.sendMail({ ...message, ...thread, from, to: [...to] });
        sent.catch(() => undefined);
        const { response } = await Promise.race([sent, deadline.promise]);
        return { answer: response.slice(0, 200) };
      } catch (error) {
        throw notSent(error);
      } finally {
        clearTimeout(timer);
        socket.destroy();
      }
    },
  };
}

/** 4xx of SMTP, and what never came to an answer, may go better later; 5xx will not. */
function notSent(error: unknown): NotSent {
  if (error instanceof NotSent) return error;
  if (error instanceof OutboundError) return new NotSent(sentenceOf(error.reason), false);
  const { responseCode = 0, code = "" } = error as { responseCode?: number; code?: string };
  const words = errorText(error);
  const isFinal = responseCode >= 500 || code === "EAUTH" || code === "EENVELOPE";
  return new NotSent(words.replace(/\s+/g, " ").slice(0, 200), !isFinal);
}
