import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { SHORT_LAG } from "../../src/sim/argocd/application/lag.ts";
import { type EmbeddedWorld, startWorld } from "../../src/sim/world.ts";
import { WEBHOOK_PATH } from "../../src/surfaces/server/deliveries/server.ts";
import { openRedactor } from "../../src/surfaces/server/log.ts";
import { type ServeProcess, startServe } from "../support/serve-process.ts";

let world: EmbeddedWorld | undefined;
let running: ServeProcess | undefined;
const folder = mkdtempSync(join(tmpdir(), "stagecoach-secrets-"));
afterEach(async () => {
  running?.child.kill("SIGKILL");
  await running?.ended;
  await world?.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Seen {
  arguments: string;
  environment: string;
  core: string | undefined;
}

/** Of a process and all that it has started, as others of the machine see it. */
function familyOf(root: number): number[] {
  const children = threadsOf(root).flatMap((thread) =>
    read(`/proc/${root}/task/${thread}/children`).split(" ").filter(Boolean).map(Number),
  );
  return [root, ...children.flatMap((pid) => (read(`/proc/${pid}/stat`) === "" ? [] : familyOf(pid)))];
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

function look(pid: number): Seen {
  const of = (what: string) => read(`/proc/${pid}/${what}`).replaceAll("\0", "\n");
  return { arguments: of("cmdline"), environment: of("environ"), core: /^Max core file size +(.*?) {2}/m.exec(of("limits"))?.[1] };
}

/** "" where the process is gone by now. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

const TOKEN = /gh[a-z]_\w{8,}|eyJ[\w-]{8,}\.|PRIVATE KEY|x-access-token/;

describe.runIf(process.platform === "linux")("somebody on the machine, or with a file of what was printed or kept", () => {
  test("looks for secrets in arguments, environments, the log, what lies on the disk, core files and a debugger", async () => {
    world = await startWorld({ lag: SHORT_LAG });
    const { github, repository, webhookSecret } = world;
    const secret = (name: string) => `${name}-is-a-secret-of-at-least-32-characters`;
    const files: Record<string, string> = {
      "app.pem": github.app.privateKey,
      "webhook-secret": webhookSecret,
      ...Object.fromEntries(["former", "seal", "hook", "slack"].map((name) => [`${name}-secret`, secret(name)])),
      kubeconfig: world.kubeconfig,
      "stagecoach.yaml": `controlPlanes:
  - { name: hub, kubeconfig: kubeconfig, clusterSecrets: true }
journal: { sealKeyFile: seal-secret }
hooks: { secretFile: hook-secret }
notifications: { destinations: [{ name: ops, kind: slack, channel: C0123456789, secretFile: slack-secret }] }
log: { level: debug }
`,
    };
    // A machine that keeps core files, where we may say so.
    spawnSync("prlimit", ["--pid", String(process.pid), "--core=unlimited:unlimited"]);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const given = { APP_ID: String(github.app.id), PRIVATE_KEY_FILE: "app.pem", WEBHOOK_SECRET_FILE: "webhook-secret" };
    const places = { GHE_HOST: new URL(github.url).host, GHE_PROTOCOL: "http", HOST: "127.0.0.1", PORT: "0", INSIDE_PORT: "0" };
    running = startServe([], { cwd: folder, env: { ...given, ...places, FORMER_WEBHOOK_SECRET_FILE: "former-secret" } });
    const { child, output, until } = running;
    const [, url = "", inside = ""] = await until(/"url":"([^"]+)","insideUrl":"([^"]+)","msg":"ready"/);
    world.deliverTo(`${url}${WEBHOOK_PATH}`);
    const seen: Seen[] = [];
    let isOver = false;
    const watching = (async () => {
      while (!isOver) {
        seen.push(...familyOf(child.pid ?? 0).map(look));
        // git lives for longer.
        await setTimeout(2);
      }
    })();
    const alice = github.actAs("alice");
    const pull = await world.openReleasePull(alice);
    await world.untilComment(pull, "Plan:");
    await alice.mergePull(repository, pull, "squash");
    await world.untilComment(pull, "**Progressing**");
    isOver = true;
    await watching;

    const secrets = [webhookSecret, ...["former", "seal", "hook", "slack"].map(secret), github.app.privateKey.split("\n")[3] ?? ""];
    const holds = (text: string) => secrets.some((one) => text.includes(one));
    // Something was looked at: the server, what starts its programs, a cell, git.
    expect(seen.some(({ arguments: said }) => /^git\n/.test(said))).toBe(true);
    expect(new Set(seen.map(({ arguments: said }) => said)).size).toBeGreaterThan(3);
    expect(seen.filter(({ arguments: said }) => holds(said) || TOKEN.test(said))).toEqual([]);
    expect(seen.filter(({ environment }) => holds(environment) || TOKEN.test(environment))).toEqual([]);
    // A token for one repository's contents, for as long as a transfer takes.
    const withHeader = seen.filter(({ environment }) => /Authorization/.test(environment));
    expect(withHeader.filter(({ arguments: said }) => !/^(?:\S*\/)?git[\w-]*\n/.test(said))).toEqual([]);
    const core = new Set(seen.flatMap(({ core: most }) => most ?? []));
    expect([...core]).toEqual(["0"]);
    expect([holds(output()), TOKEN.test(output())]).toEqual([false, false]);
    const kept = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((name) => join(folder, name))
      .filter((path) => !(path.slice(folder.length + 1) in files) && statSync(path).isFile());
    expect(kept.length).toBeGreaterThan(5);
    expect(kept.filter((path) => holds(read(path)) || TOKEN.test(read(path)))).toEqual([]);

    child.kill("SIGUSR1");
    // It goes on, and nobody may look into its memory.
    expect((await fetch(`${inside}/healthz`)).status).toBe(200);
    expect(output()).not.toContain("Debugger listening");
  });

  test("reads what an error says of the address of a database, a header or a key", () => {
    const redact = openRedactor(["hook-secret-value"]);
    const error = new Error("connect postgresql://stagecoach:pa55word@db:5432/stagecoach", {
      cause: new Error("x-key: hook-secret-value"),
    });
    const said = redact(JSON.stringify({ error: String(error), cause: String(error.cause), authorization: "Bearer abc.def" }));
    expect(said).not.toMatch(/pa55word|hook-secret-value|abc\.def/);
  });
});
