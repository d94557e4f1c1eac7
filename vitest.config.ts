import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The random runs first: they take what of the cores nobody else wants. Then whole worlds, those before that take longest: begun late, one
 * of them goes on alone.
 */
const ORDER = [
  /\/properties\/run\.test\.ts$/,
  /\/(?:replicas-page\.long|chaos|embedded|two-processes|people\.long|argo\.long|pin-kinds\.long|layouts\.long|rollback\.long|replicas\.long|package)\.test\.ts$/,
  /\/test\/(?:e2e|attacks|real)\//,
];

class WorldsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => [...ORDER, /./].findIndex((one) => one.test(moduleId));
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

/** Journeys of many minutes of a world's time, with all that can go wrong on the way, and what strangers try: the gate's. */
const LONG = ["test/e2e/**/*.long.test.ts", "test/attacks/**/*.test.ts", "test/chaos/chaos.test.ts"];

export default defineConfig({
  test: {
    include: ["src/**/*.test.{ts,tsx}", "test/**/*.test.ts"],
    exclude: process.env["STAGECOACH_LEAVE_LONG"] === "1" ? LONG : [],
    // A worker takes file after file: its modules are loaded once, and no test may leave anything behind in them.
    isolate: false,
    // A worker of a world waits for git half of its time, and the one of the random runs does nothing itself.
    maxWorkers: Math.ceil(availableParallelism() * 1.5) + 1,
    setupFiles: ["test/support/setup.ts", "test/schemas/every-world.ts"],
    sequence: { sequencer: WorldsFirst },
    // These end what hangs, and bound no test's pace: a machine may be busy with ten other things.
    testTimeout: 900_000,
    hookTimeout: 900_000,
  },
});
