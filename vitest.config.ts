import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The random runs first: they take what of the cores nobody else wants. Then whole worlds, since they take longest; and each
 * project's files in a row, so that workers are kept.
 */
const ORDER = ["runs", "worlds", "rooms", "page", "core"];
/** Of the worlds those that go on longest, though their files are short: begun late, one of them goes on alone. */
const LASTING =
  /\/(?:replicas-page\.long|chaos|embedded|two-processes|people\.long|argo\.long|pin-kinds\.long|layouts\.long|rollback\.long|replicas\.long|package)\.test\.ts$/;

class WorldsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ project, moduleId }: TestSpecification) =>
      ORDER.indexOf(project.name) + (project.name === "worlds" && !LASTING.test(moduleId) ? 0.5 : 0);
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

/** Journeys of many minutes of a world's time, with all that can go wrong on the way, what strangers try, and the package: the gate's. */
const LONG = ["test/e2e/**/*.long.test.ts", "test/attacks/**/*.test.ts", "test/chaos/chaos.test.ts", "test/package.test.ts"];
const LEFT_OUT = process.env["STAGECOACH_LEAVE_LONG"] === "1" ? LONG : [];
/** The package runs a demo to its end, which takes a minute, so it stands with them. */
const WORLDS = [
  "test/e2e/**/*.test.ts",
  "test/attacks/**/*.test.ts",
  "test/real/**/*.test.ts",
  "test/package.test.ts",
  "test/chaos/chaos.test.ts",
];
const RUNS = ["test/properties/run.test.ts"];
/** Those that import JSX. */
const PAGE = ["src/surfaces/web/client/**/*.test.{ts,tsx}"];
const CORE = ["src/core/**/*.test.ts", "src/simulate/**/*.test.ts", "test/traps/**/*.test.ts", "test/corpus/**/*.test.ts"];

const world = { setupFiles: ["test/schemas/every-world.ts"], testTimeout: 900_000, hookTimeout: 900_000 };

export default defineConfig({
  test: {
    // A worker takes file after file: its modules are loaded once, and no test may leave anything behind in them. Those of other projects
    // begin anew: whatever starts programs does so by fork, which costs the more the larger the worker has become.
    isolate: false,
    // A worker of a world waits for git half of its time, and the one of the random runs does nothing itself.
    maxWorkers: Math.ceil(availableParallelism() * 1.5) + 1,
    // Node runs the sources as they are, here too: what Vite makes of them looks each import up by a getter wherever it is used, which
    // took 7 % of the processor time of journeys and of what computes. So there is no `vi.mock`. Where there is JSX, Vite has to.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    setupFiles: ["test/support/setup.ts"],
    sequence: { sequencer: WorldsFirst },
    // These end what hangs, and bound no test's pace: a machine may be busy with ten other things.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      { extends: true, test: { name: "runs", include: RUNS } },
      { extends: true, test: { name: "core", include: CORE } },
      {
        extends: true,
        test: {
          name: "rooms",
          include: ["src/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...CORE, ...WORLDS, ...RUNS, ...PAGE],
          setupFiles: ["test/schemas/every-world.ts"],
        },
      },
      { extends: true, test: { name: "page", include: PAGE, experimental: { viteModuleRunner: true } } },
      { extends: true, test: { name: "worlds", include: WORLDS, exclude: LEFT_OUT, ...world } },
    ],
  },
});
