/** Somebody wants a repository of theirs to hold up everybody else's: what hangs there is given up, and the others go on. */
import { afterEach, expect, test } from "vitest";
import { ATTENTION_TITLE } from "../../src/core/report/run/attention.ts";
import { askUntil } from "../support/ask-until.ts";
import { ended, type Journey, short, startJourney } from "../support/journey.ts";

/** In the wall's time, like the limits of single calls: enough for a round of this world on a busy machine, too. */
const roundLimits = { placeMs: 200, roundMs: 10_000, most: 32 };
const never = new Promise<never>(() => undefined);

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

function gaveUp(of: Journey): string[] {
  return of.errors.flatMap(({ fields, message }) =>
    message.includes("did not end") ? [(fields as { repository: string }).repository] : [],
  );
}

test("six repos whose Git or API never answers: the bot gets ready and others' runs go on; what hangs is given up, said, and taken up again", async () => {
  const here = await startJourney({ files: short(), roundLimits });
  journey = here;
  const { github, clock, repository } = here.world;
  await here.stop();
  const files = new Map([["README.md", "nothing\n"]]);
  for (let n = 0; n < 6; n++) await github.createRepo({ owner: "acme", name: `hangs-${n}`, files });
  github.faults.request = ({ path }) => (/^\/repos\/acme\/hangs-[0-2]\//.test(path) ? never : undefined);
  github.faults.git = ({ repository: asked }) => (/^acme\/hangs-[3-5]$/.test(asked) ? never : undefined);
  await here.start();
  await here.release();
  const run = await here.until("it ends", ended);
  expect(run.phase).toBe("Succeeded");

  const issues = async () => {
    const headers = { authorization: `token ${github.token("alice")}` };
    const response = await fetch(`${github.url}/repos/acme/hangs-4/issues?state=all&labels=stagecoach`, { headers });
    return ((await response.json()) as { state: string; title: string; body: string }[]).filter(({ title }) => title === ATTENTION_TITLE);
  };
  const isOpen = (seen: { state: string }[]) => seen[0]?.state === "open";
  const said = await askUntil(clock, "it is said on GitHub", issues, isOpen);
  expect(said[0]?.body).toContain("gave up looking");
  expect(gaveUp(here).filter((name) => !name.startsWith("acme/hangs-"))).toEqual([]);
  expect(gaveUp(here)).not.toContain(repository);
  delete github.faults.request;
  delete github.faults.git;
  await askUntil(clock, "it is over", issues, (seen) => !isOpen(seen));
});
