import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Fleet } from "../../src/core/report/model/schema/fleet.ts";
import type { RunDocument } from "../../src/core/report/model/schema/run.ts";
import { SHORT_LAG } from "../../src/sim/argocd/application/lag.ts";
import { type EmbeddedWorld, startWorld } from "../../src/sim/world.ts";
import { type Heard, hearing } from "../../src/surfaces/web/api/testing/hearing.ts";
import { short } from "../support/journey.ts";
import { POSTGRES, postgres } from "../support/postgres.ts";
import { type Replica, startReplica } from "../support/replica.ts";

let world: EmbeddedWorld | undefined;
let folder = "";
const replicas: Replica[] = [];
const lines = new Set<Heard>();

afterEach(async () => {
  for (const line of lines) await line.close().catch(() => undefined);
  lines.clear();
  for (const { process } of replicas.splice(0)) {
    process.child.kill("SIGKILL");
    await process.ended;
  }
  await world?.close();
  world = undefined;
  await rm(folder, { recursive: true, force: true });
});

/** A browser's line of events. */
async function listen({ inside }: Replica, query: string, headers: Record<string, string> = {}): Promise<Heard> {
  const line = hearing(await fetch(`${inside}/api/v1/events${query}`, { headers }));
  lines.add(line);
  return line;
}

const NOW = new Set(["asOf", "at"]);

/** Without the moment it was made at. */
function plain(document: unknown): unknown {
  return JSON.parse(JSON.stringify(document, (name, value: unknown) => (NOW.has(name) && typeof value === "string" ? undefined : value)));
}

async function get({ inside }: Replica, path: string): Promise<unknown> {
  const answer = await fetch(`${inside}/api/v1${path}`);
  return answer.ok ? plain(await answer.json()) : { status: answer.status };
}

/** Looks again at each event of the line until it holds. */
async function until<T>(line: Heard, look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> {
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    await line.next();
  }
}

function actionsOf({ actions, children }: Pick<RunDocument, "actions" | "children">): RunDocument["actions"] {
  return [...actions, ...children.flatMap(actionsOf)];
}

describe.skipIf(POSTGRES === undefined)("whichever of two replicas is asked", () => {
  test("everything is there, live, and acted on; also once the one that looked after it is killed", async () => {
    folder = await mkdtemp(join(tmpdir(), "stagecoach-replicas-"));
    world = await startWorld({ lag: SHORT_LAG, files: short({ spec: "delivery: { merge: Manual }" }) });
    const { github, repository } = world;
    const { url, name } = await (await postgres()).database();
    const owner = await startReplica(world, url, folder);
    replicas.push(owner);
    const other = await startReplica(world, url, folder);
    replicas.push(other);
    world.deliverTo(other.hook);
    const at = `/repos/${repository}/rollouts/my-app`;
    const ofFleet = await listen(other, "");
    const fleet = (replica: Replica) => get(replica, "/fleet") as Promise<Fleet>;

    // The plan of an open release PR.
    const pull = await world.openReleasePull(github.actAs("alice"));
    const isPlanned = ({ releases }: Fleet) => releases.some(({ state }) => state === "Planned" || state === "Warned");
    await until(ofFleet, () => fleet(other), isPlanned);
    expect(await get(other, `${at}/pulls/${pull}`)).toEqual(await get(owner, `${at}/pulls/${pull}`));

    // A run that waits for a person.
    await github.actAs("alice").mergePull(repository, pull, "squash");
    await until(
      ofFleet,
      () => fleet(other),
      ({ rollouts }) => rollouts.length > 0,
    );
    const ofRun = await listen(other, `?rollout=${repository}/my-app`);
    const run = (replica: Replica) => get(replica, at) as Promise<RunDocument>;
    const promoteOf = (shown: RunDocument) => actionsOf(shown).find(({ verb, allowed }) => verb === "promote" && allowed);
    await until(
      ofRun,
      () => run(other),
      (shown) => promoteOf(shown) !== undefined,
    );
    const moment = `?at=${new Date(world.clock.now()).toISOString()}`;
    const paths = [
      "/fleet",
      at,
      `${at}/runs/1`,
      `${at}/runs`,
      `${at}/runs/1/events`,
      `/versions${moment}`,
      `${at}${moment}`,
      `/fleet${moment}`,
    ];
    for (const path of paths) expect([path, await get(other, path)]).toEqual([path, await get(owner, path)]);
    expect((await fleet(other)).repositories).toEqual([expect.objectContaining({ repository, state: "Read", attention: [] })]);

    // A command given where nobody looks after it.
    let keys = 0;
    const promote = async (): Promise<number> => {
      const shown = await run(other);
      const { args, pull: on } = promoteOf(shown) ?? { args: [], pull: undefined };
      const asked = { authorization: `Bearer ${github.token("alice")}`, "content-type": "application/json" };
      const headers = { ...asked, "idempotency-key": `promote-${++keys}` };
      const body = JSON.stringify({ verb: "promote", args, seen: shown.seen, pull: on });
      return (await fetch(`${other.inside}/api/v1${at}/runs/1/commands`, { method: "POST", headers, body })).status;
    };
    expect(await promote()).toBe(202);
    await until(
      ofRun,
      () => run(other),
      ({ counts }) => counts.healthy > 0,
    );

    // The one that looks after it dies, and a line that it served is gone on with at the other.
    const cut = await listen(owner, `?rollout=${repository}/my-app&whole`);
    const { id: last } = await cut.next();
    owner.process.child.kill("SIGKILL");
    await owner.process.ended;
    const again = await listen(other, `?rollout=${repository}/my-app&whole`, { "last-event-id": last });
    expect((await again.next()).event).toBe("hello");
    expect(await again.next()).toMatchObject({ event: "whole", data: { kind: "Run", number: 1 } });
    const plainly = await listen(other, "", { "last-event-id": last });
    expect([(await plainly.next()).event, (await plainly.next()).event]).toEqual(["hello", "reset"]);

    // Nothing of it is missing until the other has it, which then finishes it.
    const shown = await until(
      again,
      () => run(other),
      (now) => promoteOf(now) !== undefined || now.endedAt !== undefined,
    );
    expect(shown.number).toBe(1);
    for (let batch = 0; batch < 20; batch++) {
      const now = await until(
        again,
        () => run(other),
        (one) => promoteOf(one) !== undefined || one.endedAt !== undefined,
      );
      if (now.endedAt !== undefined) break;
      if ((await promote()) === 202)
        await until(
          again,
          () => run(other),
          ({ seen }) => seen !== now.seen,
        );
    }
    expect(other.process.output()).toContain("a replica is gone: what it looked after is free");
    await world.untilComment(pull, "**Succeeded**");
    const { repositories } = await until(
      ofFleet,
      () => fleet(other),
      ({ rollouts }) => rollouts[0]?.state === "Succeeded",
    );
    expect(repositories).toEqual([expect.objectContaining({ state: "Read", attention: [] })]);
    expect(await get(other, `${at}/runs`)).toMatchObject({ items: [{ number: 1, phase: "Succeeded" }] });
    const rows = await (await postgres()).query("select part from stagecoach.shown order by part", name);
    expect(rows.map(({ part }) => part)).toEqual(["", "my-app"]);
  });
});
