/**
 * Records what this version leaves behind in the middle of a run, for the tests of later ones: `node src/surfaces/cli/launch.mjs
 * test/upgrade/record.ts` writes the folder that is called after the version. What was recorded of a version that is released stays as it is.
 */
import { copyFileSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startJourney } from "../support/journey.ts";
import { record } from "./recorded.ts";
import { RECORDED } from "./world.ts";

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
const folder = join(import.meta.dirname, version);
const journey = await startJourney(RECORDED);
await journey.release();
await journey.until("the second batch bakes", ({ batches }) => batches[1]?.phase === "Baking");
await journey.stop();
await journey.world.github.idle();
record(journey.world.github, journey.world.repository, folder, journey.world.clock.now());
await journey.close();
// Every field that a rollout and a repository's settings have; the server's own configuration is written by hand.
const at = (path: string) => join(import.meta.dirname, "../../rollouts", path);
const examples = globSync("*.yaml", { cwd: at("") }).sort();
writeFileSync(join(folder, "rollouts.yaml"), examples.map((path) => `---\n${readFileSync(at(path), "utf8")}`).join(""));
copyFileSync(at(".github/stagecoach.yaml"), join(folder, "repository.yaml"));
