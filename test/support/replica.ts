import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { EmbeddedWorld } from "../../src/sim/world.ts";
import { WEBHOOK_PATH } from "../../src/surfaces/server/deliveries/server.ts";
import { type ServeProcess, startServe } from "./serve-process.ts";

/** A server of several, as a process of its own with a directory of its own. */
export interface Replica {
  process: ServeProcess;
  /** Where GitHub's deliveries go. */
  hook: string;
  inside: string;
}

/** Ready when it resolves. Killed by who started it. */
export async function startReplica(around: EmbeddedWorld, databaseUrl: string, folder: string): Promise<Replica> {
  const own = await mkdtemp(join(folder, "replica-"));
  const config = `controlPlanes:\n  - { name: hub, kubeconfig: kubeconfig, clusterSecrets: true, allowRefresh: true }\nqueue: { kind: postgres, urlFile: url }\nlog: { level: debug }\n`;
  const files = { "stagecoach.yaml": config, kubeconfig: around.kubeconfig, url: `${databaseUrl}\n` };
  for (const [name, text] of Object.entries(files)) await writeFile(join(own, name), text);
  const env = {
    ...{ GHE_HOST: new URL(around.github.url).host, GHE_PROTOCOL: "http", HOST: "127.0.0.1", PORT: "0", INSIDE_PORT: "0" },
    ...{ APP_ID: String(around.github.app.id), PRIVATE_KEY: around.github.app.privateKey, WEBHOOK_SECRET: around.webhookSecret },
  };
  const process = startServe([], { cwd: own, env });
  const [, url = "", inside = ""] = await process.until(/"url":"([^"]+)","insideUrl":"([^"]+)","msg":"ready"/);
  return { process, hook: `${url}${WEBHOOK_PATH}`, inside };
}
