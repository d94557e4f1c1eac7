/** What goes wrong, and when: drawn from a seed, so that the same goes wrong at the same moments again. */
import { setTimeout as sleep } from "node:timers/promises";
import { seededFraction } from "../../src/core/base/seeded.ts";
import type { Holding } from "./database.ts";
import type { Replica } from "./replica.ts";
import type { ChaosWorld } from "./world.ts";

type Where = "github" | "argocd" | "postgres" | "git" | "hooks";

/** Which of them; `owner`: whoever looks after the first repository at that moment. */
type Which = number | "owner";

type Deed =
  /** SIGKILL, and a new process after `forMs`. */
  | { kind: "kill"; replica: Which }
  /** SIGSTOP, and SIGCONT after it. */
  | { kind: "freeze"; replica: Which }
  | { kind: "cut" | "hold"; where: Where; replica: Which }
  /** GitHub does the next write, and its answer is lost. */
  | { kind: "lose answer"; replica: Which }
  | { kind: "GitHub unwell"; percent: number }
  | { kind: "webhooks"; drop: number; double: number; delay: number; swap: number }
  | { kind: "full disk"; replica: Which }
  | { kind: "clock"; replica: Which; offMs: number }
  /** SIGKILL of all replicas at once. */
  | { kind: "all down" }
  /** SIGKILL of PostgreSQL, which is started again. */
  | { kind: "database" }
  /** Nothing more can be written where PostgreSQL has its files. */
  | { kind: "full database" };

export type Fault = Deed & { atMs: number; forMs: number };

export interface Kill {
  /** Of the replica. */
  name: string;
  /** In epoch milliseconds. */
  atMs: number;
  /** Nothing else kept replicas or PostgreSQL from their work meanwhile. */
  alone: boolean;
}

/** These replicas could take nothing over from then until then: they were down or frozen, or had no PostgreSQL. */
export interface Outage {
  names: string[];
  fromMs: number;
  toMs: number;
}

export interface Chances {
  replicas: number;
  postgres: boolean;
  /** In which they begin. */
  spanMs: number;
  kills: number;
  others: number;
  longestMs: number;
}

export function drawFaults(seed: number, { replicas, postgres, spanMs, kills, others, longestMs }: Chances): Fault[] {
  let drawn = 0;
  const fraction = () => seededFraction(`chaos ${seed} ${drawn++}`);
  const between = (least: number, most: number) => Math.round(least + fraction() * (most - least));
  const oneOf = <T>(all: readonly T[]): T => all[Math.floor(fraction() * all.length)] as T;
  const replica = (): Which => between(0, replicas - 1);
  const places: Where[] = ["github", "github", "argocd", "git", "hooks", ...(postgres ? (["postgres", "postgres"] as const) : [])];
  const share = () => between(0, 30) / 100;
  const kinds: (() => Deed & { forMs: number })[] = [
    () => ({ kind: "freeze", replica: replica(), forMs: between(2000, longestMs) }),
    () => ({ kind: "cut", where: oneOf(places), replica: replica(), forMs: between(200, longestMs / 3) }),
    () => ({ kind: "hold", where: oneOf(places), replica: replica(), forMs: between(200, longestMs / 3) }),
    () => ({ kind: "lose answer", replica: replica(), forMs: 0 }),
    () => ({ kind: "lose answer", replica: replica(), forMs: 0 }),
    () => ({ kind: "GitHub unwell", percent: between(10, 100), forMs: between(1000, longestMs / 2) }),
    () => ({ kind: "webhooks", drop: share(), double: share(), delay: share(), swap: share() / 3, forMs: between(2000, longestMs) }),
    () => ({ kind: "full disk", replica: replica(), forMs: between(2000, longestMs / 2) }),
    () => ({ kind: "clock", replica: replica(), offMs: between(-300_000, 300_000), forMs: between(2000, longestMs / 2) }),
    () => ({ kind: "all down", forMs: between(100, 5000) }),
    ...(postgres ? [0, 1].map(() => () => ({ kind: "database" as const, forMs: between(100, longestMs / 3) })) : []),
    ...(postgres ? [() => ({ kind: "full database" as const, forMs: between(1000, longestMs / 3) })] : []),
  ];
  const killing = () => ({ kind: "kill" as const, replica: replica(), forMs: between(0, 3000) });
  const all = [...Array<typeof killing>(kills).fill(killing), ...Array.from({ length: others }, () => oneOf(kinds))];
  return all.map((draw) => ({ ...draw(), atMs: between(0, spanMs) })).sort((a, b) => a.atMs - b.atMs);
}

/** Lets all of it happen at its time, and ends each. Resolves to what became of replicas, once nothing is wrong any more. */
export async function playFaults(
  world: ChaosWorld,
  faults: readonly Fault[],
  log: (line: string) => void,
): Promise<{ kills: Kill[]; outages: Outage[] }> {
  const kills: Kill[] = [];
  const outages: Outage[] = [];
  const began = performance.now();
  const play = async (fault: Fault) => {
    await sleep(fault.atMs);
    log(`${((performance.now() - began) / 1000).toFixed(1)} s: ${tell(fault)}`);
    const replica = "replica" in fault ? await whichOf(world, fault.replica) : undefined;
    const atMs = Date.now();
    const killed = await happen(world, fault, replica);
    kills.push(...killed.map((name) => ({ name, atMs, alone: isAlone(fault, faults) })));
    outages.push({ names: hinderedBy(fault, world.replicas, replica), fromMs: atMs, toMs: Date.now() });
  };
  await Promise.all(faults.map(play));
  return { kills, outages };
}

function hinderedBy(fault: Fault, all: readonly Replica[], replica: Replica | undefined): string[] {
  if (["all down", "database", "full database"].includes(fault.kind)) return all.map(({ name }) => name);
  const isHindered = fault.kind === "kill" || fault.kind === "freeze" || ("where" in fault && fault.where === "postgres");
  return isHindered && replica !== undefined ? [replica.name] : [];
}

/** Until PostgreSQL is asked again. */
const AGAIN_MS = 100;

/** What a fault leaves behind is over by then. */
const AFTERWARDS_MS = 10_000;

/** Whether a kill meets replicas and a PostgreSQL that are well, and leaves them so while somebody takes over. */
function isAlone(killing: Fault, faults: readonly Fault[]): boolean {
  const hinders = (fault: Fault) =>
    ["kill", "all down", "freeze", "database", "full database", "full disk"].includes(fault.kind) ||
    ("where" in fault && fault.where === "postgres");
  const overlaps = ({ atMs, forMs }: Fault) => atMs < killing.atMs + AFTERWARDS_MS && killing.atMs < atMs + forMs + AFTERWARDS_MS;
  return killing.kind === "kill" && !faults.some((fault) => fault !== killing && hinders(fault) && overlaps(fault));
}

export function tell({ atMs: _, forMs, kind, ...more }: Fault): string {
  const words = Object.entries(more).map(([name, value]) => ` ${name} ${String(value)}`);
  return `${kind}${words.join("")}, for ${(forMs / 1000).toFixed(1)} s`;
}

/** Gives which replicas were killed. */
async function happen(world: ChaosWorld, fault: Fault, replica: Replica | undefined): Promise<string[]> {
  const { kind, forMs } = fault;
  if (kind !== "kill" && kind !== "all down") {
    await disturb(world, fault, replica);
    return [];
  }
  const killed = kind === "all down" ? world.replicas : replica === undefined ? [] : [replica];
  const were = await Promise.all(killed.map((replica) => replica.kill(forMs)));
  return killed.filter((_, n) => were[n]).map(({ name }) => name);
}

async function whichOf({ replicas, repositories, postgres }: ChaosWorld, which: Which): Promise<Replica | undefined> {
  if (which !== "owner") return replicas[which];
  let holdings: Holding[] | undefined;
  // It may be down.
  while (holdings === undefined) holdings = postgres === undefined ? [] : await postgres.holdings().catch(() => sleep(AGAIN_MS, undefined));
  const last = holdings.findLast(({ repository, holder }) => holder !== null && repository === repositories[0]?.toLowerCase());
  return replicas.find(({ name }) => name === last?.holder) ?? replicas[0];
}

async function disturb(
  world: ChaosWorld,
  fault: Exclude<Fault, { kind: "kill" | "all down" }>,
  replica: Replica | undefined,
): Promise<unknown> {
  const { forMs } = fault;
  const during = async (begin: () => unknown, end: () => unknown) => {
    await begin();
    await sleep(forMs);
    await end();
  };
  switch (fault.kind) {
    case "freeze":
      return await during(
        () => replica?.signal("SIGSTOP"),
        () => replica?.signal("SIGCONT"),
      );
    case "cut":
    case "hold": {
      const wires = wiresOf(world, fault.where, replica);
      return await during(
        () => wires.map((wire) => (fault.kind === "cut" ? wire.cut() : wire.hold())),
        () => wires.map((wire) => wire.mend()),
      );
    }
    case "lose answer":
      return replica?.wires.github.loseAnswer();
    case "GitHub unwell":
      return await during(
        () => world.tell({ order: "unwell", percent: fault.percent }),
        () => world.tell({ order: "unwell", percent: 0 }),
      );
    case "webhooks": {
      const { drop, double, delay, swap, atMs: seed } = fault;
      return await during(
        () => world.tell({ order: "webhooks", fates: { seed, drop, double, delay, swap, delayMs: 5000 } }),
        () => world.tell({ order: "webhooks", fates: undefined }),
      );
    }
    case "full disk":
      return await during(
        () => replica?.fillDisk(true),
        () => replica?.fillDisk(false),
      );
    case "clock":
      return await during(
        () => replica?.setClock(fault.offMs),
        () => replica?.setClock(0),
      );
    case "database":
      return await world.postgres?.kill(forMs);
    case "full database":
      return await during(
        () => world.postgres?.fillDisk(true),
        () => world.postgres?.fillDisk(false),
      );
  }
}

function wiresOf(world: ChaosWorld, where: Where, replica: Replica | undefined) {
  if (where === "git") return [world.git];
  if (where === "hooks") return [world.hooks];
  const wires = replica?.wires;
  if (where === "argocd") return wires?.argocd ?? [];
  const found = where === "github" ? wires?.github : wires?.postgres;
  return found === undefined ? [] : [found];
}
