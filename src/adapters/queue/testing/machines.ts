import { manualClock } from "../../../../test/support/manual-clock.ts";
import type { Delivery, SharedQueue } from "../port.ts";
import type { Database } from "../postgres/database.ts";
import type { PostgresOptions } from "../postgres/queue.ts";
import { databaseAt, replica } from "./open-queue.ts";

/** The event of a delivery that somebody's words came with. */
export const SAID = "said";

interface World {
  url: string;
  clock: ReturnType<typeof manualClock>;
  running: Set<Machine>;
  /** To PostgreSQL, which have no answer yet. */
  questions: number;
}

interface Machine {
  queue: SharedQueue;
  rounds: string[];
  lost: string[];
  deliveries: Delivery[];
  /** Of each delivery whether its repository waited then. */
  heldAtDelivery: boolean[];
  /** What it said that it looks at first. */
  first: readonly string[];
  worked: (seenAt: number) => void;
  owned(): string[];
  stop(): void;
  wake(): void;
}

/** A machine whose time all replicas share; one of them may be stopped, as by SIGSTOP, or cut off from PostgreSQL. */
export function openMachines(url: string) {
  const world: World = { url, clock: manualClock(1_000_000), running: new Set(), questions: 0 };
  return {
    start: (names: readonly string[], given: Partial<PostgresOptions> = {}) => start(world, names, given),
    second: () => second(world),
    until: (holds: () => boolean, most?: number) => until(world, holds, most),
    clock: world.clock,
  };
}

async function start(world: World, names: readonly string[], given: Partial<PostgresOptions>): Promise<Machine> {
  const { clock, running } = world;
  let isStopped = false;
  /** What would have rung meanwhile. */
  const late: (() => void)[] = [];
  const time = {
    monotonic: clock.now,
    wall: clock.now,
    after(ms: number, wake: () => void) {
      // What is due at once waits for no second.
      if (ms <= 0) setImmediate(() => clock.advance(0));
      return clock.after(ms, () => (isStopped ? void late.push(wake) : wake()));
    },
  };
  const own = given.database ?? databaseAt(world.url);
  const heard = (onTold: (payload: string) => void) => (payload: string) =>
    isStopped ? void late.push(() => onTold(payload)) : onTold(payload);
  // What others tell it is heard once it goes on, too.
  const database: Database = {
    ...own,
    lone: (onTold) => own.lone(heard(onTold)),
    async query(...asked) {
      world.questions += 1;
      return (await own.query(...asked).finally(() => (world.questions -= 1))) as never;
    },
  };
  const [rounds, lost, deliveries]: [string[], string[], Delivery[]] = [[], [], []];
  const machine: Machine = {
    ...{ rounds, lost, deliveries, heldAtDelivery: [], first: [], worked: () => undefined },
    queue: replica(database, {
      ...{ clock, time, onWorked: (seenAt: number) => machine.worked(seenAt), onLeft: async () => undefined },
      handler: async (repository) => void rounds.push(repository),
      onLost: (repository) => void lost.push(repository),
      onDelivery(delivery) {
        deliveries.push(delivery);
        machine.heldAtDelivery.push(machine.queue.waits(delivery.repository ?? ""));
        if (delivery.repository !== undefined)
          machine.queue.wake({ repository: delivery.repository, rollout: null, heard: delivery.event === SAID });
        return true;
      },
      ...given,
      database,
    }),
    owned: () => names.filter((name) => machine.queue.owns(name)),
    stop() {
      isStopped = true;
      running.delete(machine);
    },
    wake() {
      isStopped = false;
      running.add(machine);
      for (const ring of late.splice(0)) ring();
    },
  };
  machine.queue.share(names);
  machine.first = await machine.queue.start();
  running.add(machine);
  return machine;
}

/** A second passes, and everybody who is there does what comes of it. */
async function second(world: World): Promise<void> {
  const { clock, running } = world;
  clock.advance(1000);
  const now = clock.now();
  // What comes of an earlier look is none of this second's.
  const worked = (resolve: () => void) => (seenAt: number) => (seenAt >= now ? resolve() : undefined);
  await Promise.all([...running].map((machine) => new Promise<void>((resolve) => Object.assign(machine, { worked: worked(resolve) }))));
  // A round may be begun by then, which asks before it is.
  do await new Promise(setImmediate);
  while (world.questions > 0);
}

/** Gives how many seconds have passed until then. */
async function until(world: World, holds: () => boolean, most = 30): Promise<number> {
  for (let passed = 0; passed <= most; passed++) {
    if (holds()) return passed;
    await second(world);
  }
  throw new Error(`it did not come in ${most} s`);
}
