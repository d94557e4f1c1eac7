/** The sample in other sizes: its clusters, a rollout for each of several applications, and an approval to give. Called by `demo.ts`. */
import { type FleetCluster, fleetClusters, type WorldOptions } from "../../../sim/world.ts";

/** Who approves in the demo, and their team. */
export const APPROVERS = "platform";

interface Size {
  /** undefined: those of the sample. */
  clusters?: number | undefined;
  rollouts: number;
  /** Whether the stage after the canary wants the approval of somebody. */
  approval: boolean;
}

export interface DemoFleet {
  clusters: readonly FleetCluster[];
  /** Names; each releases a version of its own. */
  rollouts: { name: string; version: string }[];
  world: Pick<WorldOptions, "clusters" | "files" | "sets">;
}

const REGIONS = [
  { region: "eu-west-1", area: "emea" },
  { region: "eu-central-1", area: "emea" },
  { region: "us-east-1", area: "amer" },
] as const;
const APPS = ["my-app", "payments", "checkout", "search", "accounts", "orders", "mailer", "reports"];

export function demoFleet({ clusters: count, rollouts: number, approval }: Size): DemoFleet {
  const clusters = count === undefined ? fleetClusters() : Array.from({ length: count }, (_, index) => clusterAt(index));
  const rollouts = Array.from({ length: number }, (_, n) => ({ name: APPS[n] ?? `app-${n + 1}`, version: `v1.4.${n + 2}` }));
  const files = (all: Map<string, string>) => {
    if (count !== undefined) putClusters(all, clusters);
    for (const { name } of rollouts.slice(1)) copyRollout(all, name);
    if (approval)
      edit(all, "rollouts/my-app.yaml", "    - name: eu-west-1\n", (line) => `${line}      approval: { teams: [${APPROVERS}] }\n`);
  };
  return { clusters, rollouts, world: { clusters, files, sets: number } };
}

/** Regions take turns, so that each stage gets its share; the sample's drained cluster is drained here, too. */
function clusterAt(index: number): FleetCluster {
  const { region, area } = REGIONS[index % REGIONS.length] ?? REGIONS[0];
  const name = `${region}-${letters(Math.floor(index / REGIONS.length))}`;
  const drained = name === "eu-west-1-c" ? { drained: "true" } : {};
  return { name, server: `https://${name}.k8s.example.com`, labels: { area, region, ...drained } };
}

/** a … z, aa … */
function letters(n: number): string {
  const last = String.fromCharCode(97 + (n % 26));
  return n < 26 ? last : letters(Math.floor(n / 26) - 1) + last;
}

/** The ApplicationSet lists these clusters; what was printed of the sample's is of no use then. */
function putClusters(files: Map<string, string>, clusters: readonly FleetCluster[]): void {
  const elements = clusters.map(
    ({ name, server, labels }) =>
      `          - cluster: ${name}\n            server: ${server}\n            area: ${labels["area"]}\n            region: ${labels["region"]}\n            targetRevision: v1.4.1\n`,
  );
  edit(files, "appsets/my-app-set.yaml", /(?<=elements:\n)[\s\S]*?(?= {2}template:)/, () => elements.join(""));
  files.delete("inventory.yaml");
}

function copyRollout(files: Map<string, string>, name: string): void {
  for (const [path, text] of [...files]) {
    if (/^(?:apps|appsets|releases|rollouts)\/my-app/.test(path)) files.set(path.replace("my-app", name), text.replaceAll("my-app", name));
  }
}

function edit(files: Map<string, string>, path: string, what: string | RegExp, to: (found: string) => string): void {
  const text = files.get(path) ?? "";
  const changed = text.replace(what, to);
  if (changed === text) throw new Error(`the sample's ${path} is not what the demo expects`);
  files.set(path, changed);
}
