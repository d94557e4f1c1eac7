import { manualClock } from "../../../../test/support/manual-clock.ts";
import type { Delivery, SharedQueue } from "../port.ts";
import type { PostgresOptions } from "../postgres/queue.ts";
import { databaseAt, replica } from "./open-queue.ts";

/** A machine whose time all replicas share; one of them may be stopped, as by SIGSTOP, or cut off from PostgreSQL. */
export function openMachines(url: string) {
  const clock = manualClock(1_000_000);
  const running = new Set<Machine>();

  interface Machine {
    queue: SharedQueue;
    rounds: string[];
    lost: string[];
    deliveries: Delivery[];
    /** What it said that it looks at first. */
    first: readonly string[];
    worked: () => void;
    owned(): string[];
    /** Resolves once it waits for its next beat. */
    waits(): Promise<void>;
    stop(): void;
    wake(): void;
  }

  async function start(names: readonly string[], given: Partial<PostgresOptions> = {}): Promise<Machine> {
    let isStopped = false;
    /** What would have rung meanwhile. */
    const late: (() => void)[] = [];
    let timers = 0;
    let armed: () => void = () => undefined;
    const time = {
      monotonic: clock.now,
      wall: clock.now,
      after(ms: number, wake: () => void) {
        timers += 1;
        armed();
        const gone = once(() => {
          timers -= 1;
        });
        const off = clock.after(ms, () => {
          gone();
          if (isStopped) late.push(wake);
          else wake();
        });
        return () => {
          gone();
          off();
        };
      },
    };
    const [rounds, lost, deliveries]: [string[], string[], Delivery[]] = [[], [], []];
    const machine: Machine = {
      ...{ rounds, lost, deliveries, first: [], worked: () => undefined },
      queue: replica(given.database ?? databaseAt(url), {
        ...{ clock, time, onWorked: () => machine.worked(), onLeft: async () => undefined },
        handler: async (repository) => void rounds.push(repository),
        onLost: (repository) => void lost.push(repository),
        onDelivery(delivery) {
          deliveries.push(delivery);
          if (delivery.repository !== undefined) machine.queue.wake({ repository: delivery.repository, rollout: null });
          return true;
        },
        ...given,
      }),
      owned: () => names.filter((name) => machine.queue.owns(name)),
      async waits() {
        while (timers === 0)
          await new Promise<void>((resolve) => {
            armed = resolve;
          });
      },
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
  async function second(): Promise<void> {
    // One that is in the midst of a beat would let this second pass by.
    await Promise.all([...running].map((machine) => machine.waits()));
    const done = [...running].map((machine) => new Promise<void>((resolve) => Object.assign(machine, { worked: resolve })));
    clock.advance(1000);
    await Promise.all(done);
  }

  /** Gives how many seconds have passed until then. */
  async function until(holds: () => boolean, most = 30): Promise<number> {
    for (let passed = 0; passed <= most; passed++) {
      if (holds()) return passed;
      await second();
    }
    throw new Error(`it did not come in ${most} s`);
  }
  return { start, second, until, clock };
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}
