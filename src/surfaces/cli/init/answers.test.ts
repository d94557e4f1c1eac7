/** Every answer that init offers, pasted as it is told, lints clean and plans what it says. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { parseDocument } from "yaml";
import { run as lint } from "../lint/lint.ts";
import { run as plan } from "../plan/plan.ts";
import { sampleRepo } from "../testing/sample-repo.ts";
import { run as init } from "./init.ts";

const FILE = "rollouts/shop.yaml";
const digest = (hex: string) => `sha256:${hex.repeat(64)}`;

const here = sampleRepo({ empty: true });

function put(file: string, text: string): void {
  mkdirSync(dirname(join(here.dir, file)), { recursive: true });
  writeFileSync(join(here.dir, file), text);
}

async function said(command: typeof init, ...args: string[]): Promise<string> {
  here.clear();
  await command(args);
  return here.out + here.err;
}

/** Of dev and prod, what else than shop they have, in kustomize's images; prod waits for a person to sync. */
function repo(images: (env: "dev" | "prod") => string): void {
  for (const env of ["dev", "prod"] as const) {
    const automated = env === "dev" ? "\n  syncPolicy: { automated: {} }" : "";
    put(
      `apps/shop-${env}.yaml`,
      `apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: { name: shop-${env}, namespace: argocd }\nspec:\n  project: default\n  source: { repoURL: https://github.com/acme/config, path: overlays/${env}, targetRevision: main }\n  destination: { name: ${env}-1, namespace: shop }${automated}\n`,
    );
    put(
      `overlays/${env}/kustomization.yaml`,
      `images:\n  - { name: acme/shop, newTag: ${env === "dev" ? "v1.1.0" : "v1.0.0"} }\n${images(env)}`,
    );
  }
}

/** What a person does with an answer: its lines under the field that it names. */
function pasted(text: string, answer: string): string {
  const document = parseDocument(text);
  const own = (part: RegExp) => part.exec(answer)?.[1];
  const read = (yaml: string) => parseDocument(yaml).toJS();
  const [version, sync] = [own(/^version: (.+)$/), own(/^sync: (\w+)/)];
  const [name = "", value] = /(?:^|: )(\w+): ("[^"]*")(?: under release\.values|$)/.exec(answer)?.slice(1) ?? [];
  const [release, pin] = [own(/release: (\{.+\}), and/), own(/(\{"file".+\}) under pins$/)];
  if (version !== undefined) document.setIn(["spec", "release", "version"], read(version));
  else if (value !== undefined) document.setIn(["spec", "release", "values", name], read(value));
  if (sync !== undefined) document.setIn(["spec", "stages", 1, "sync"], sync);
  if (release !== undefined) document.setIn(["spec", "release"], document.createNode(read(release)));
  if (pin !== undefined) document.addIn(["spec", "pins"], document.createNode(read(pin)));
  return document.toString();
}

/** Each answer, with the pins that the rollout has then and what the plan says of prod. */
async function eachAnswer(): Promise<string[]> {
  await said(init, here.dir, "--write");
  const proposed = readFileSync(join(here.dir, FILE), "utf8");
  const told: string[] = [];
  for (const [, answer = ""] of proposed.matchAll(/^# {3}- (.+)$/gm)) {
    put(FILE, pasted(proposed, answer));
    expect(await said(lint, here.dir), answer).toMatch(/^1 rollout in 1 file: 0 errors, 0 warnings\n/);
    const planned = await said(plan, "shop", "--repo", here.dir);
    const [, prod] = /shop-prod +(.+)/.exec(planned) ?? [];
    const written = [...planned.matchAll(/writes \S+ \S+ \S+ +(.+)/g)].map(([, path]) => path);
    told.push(`${/^[^:]+/.exec(answer)?.[0]}: ${prod} (${written.join(", ")})`);
  }
  return told;
}

const REDIS = '  - { name: docker.io/library/redis, newTag: "7.2" }\n';
const envoy = (env: string) => `  - { name: envoyproxy/envoy, digest: "${digest(env === "dev" ? "b" : "a")}" }\n`;
const SHOP = "images[name=acme/shop].newTag";
const WAITS = ["sync", "sync", "none"];

test("a release by version: another image goes with it, and a digest by a value of its own", async () => {
  repo((env) => `${REDIS}${envoy(env)}  - { name: till/old, newTag: v1, digest: "${digest("c")}" }\n`);
  const moved = `v1.0.0 → v1.1.0 (${SHOP})`;
  expect(await eachAnswer()).toEqual([
    `version: ${moved}`,
    `version: v1.0.0 already (${SHOP})`,
    `no: ${moved}`,
    `yes, with a value of its own: version v1.0.0 → v1.1.0 (${SHOP}, images[name=envoyproxy/envoy].digest)`,
    `no: ${moved}`,
    `yes, by hand: ${moved}`,
    `no: ${moved}`,
    `yes, with the release's own version: v1.0.0 → v1.1.0, 7.2 → v1.1.0 (${SHOP}, images[name=docker.io/library/redis].newTag)`,
    ...WAITS.map((answer) => `${answer}: ${moved}`),
  ]);
});

test("a release of several images: each other one has a value of its own, too", async () => {
  repo((env) => `  - { name: acme/cart, newTag: v2.0.0 }\n${REDIS}${envoy(env)}`);
  const two = `${SHOP}, images[name=acme/cart].newTag`;
  const moved = `shop v1.0.0 → v1.1.0 (${two})`;
  const along = (path: string) => `yes, with a value of its own: shop v1.0.0 → v1.1.0 (${two}, ${path})`;
  expect(await eachAnswer()).toEqual([
    `shop: ${moved}`,
    `shop: all of it already (${two})`,
    ...[`no: ${moved}`, along("images[name=envoyproxy/envoy].digest")],
    ...[`no: ${moved}`, along("images[name=docker.io/library/redis].newTag")],
    ...WAITS.map((answer) => `${answer}: ${moved}`),
  ]);
});
