/** The bot's server on its own, for the bench of webhooks: prints its address, and notes what it hears as the bot does. */
import { generateKeyPairSync } from "node:crypto";
import { inProcessQueue } from "../../src/adapters/queue/in-process.ts";
import { silentLog } from "../../src/engine/round/context.ts";
import { startBotServer, WEBHOOK_PATH } from "../../src/surfaces/server/deliveries/server.ts";

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});
const clock = { now: () => Date.now(), after: (ms: number, wake: () => void) => clearTimeout.bind(undefined, setTimeout(wake, ms)) };
const queue = inProcessQueue({ clock, handler: async () => undefined });
const server = await startBotServer({
  app: { appId: 1, privateKey, webhookSecret: process.env["BENCH_SECRET"] ?? "", baseUrl: "http://127.0.0.1:1" },
  log: silentLog,
  onEvent: (event) => queue.wake({ repository: event.repository ?? "", rollout: null }),
  state: () => "ready",
});
process.stdout.write(`${server.url}${WEBHOOK_PATH}\n`);
