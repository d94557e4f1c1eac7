/** The story of the demo: release PRs are opened, their plans read, they are merged, and the runs are watched to their end. Called by `demo.ts`. */
import { formatDuration } from "../../../core/base/time.ts";
import { modelOf } from "../../../core/report/model/run-model.ts";
import { isPutBackNext } from "../../../core/run/outcome/rollback.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import type { EmbeddedWorld } from "../../../sim/world.ts";
import type { Stagecoach } from "../../server/stagecoach.ts";
import { CommandError } from "../command.ts";
import { type DemoScreen, demoScreen } from "./screen.ts";
import { howTo, type Turn, turnOf } from "./steering.ts";

interface Story {
  speed: number;
  rollouts: readonly { name: string; version: string }[];
  /** Waits for whoever watches wherever a run wants a person. */
  pauseForMe: boolean;
  once: boolean;
  quiet: boolean;
  /** Clusters with a fault. */
  faulty: readonly string[];
  /** Of whoever watches. */
  token: string;
}

/** Nothing moved for so long of the wall's time: it has hung. */
const PATIENCE_MS = 5 * 60_000;
/** Somebody is waited for: where the demo ends by itself, that ends, too. */
const PATIENCE_WITH_PEOPLE_MS = 30 * 60_000;
/** The drained cluster comes back this long after the run began, of the world's time. */
const DRAINED_FOR_MS = 12 * 60_000;
/** Of a run, until what was wrong is mended. */
const FAILURES = 2;

export function repositoryUrl({ github, repository }: EmbeddedWorld): string {
  return `${github.url}/${repository}`;
}

/** Gives the runs as they were at their end. */
export async function tell(world: EmbeddedWorld, bot: Stagecoach, story: Story): Promise<Run[]> {
  const pages = [`The page: ${bot.url}/`, `GitHub:   ${repositoryUrl(world)}`];
  const screen = demoScreen({ clock: world.clock, quiet: story.quiet, several: story.rollouts.length > 1, pages });
  const drained = world.drained === "" ? "" : `, ${world.drained} drained`;
  screen.say(
    `The embedded world is up: ${world.clusters.length} clusters in three regions${drained}. Its clock runs ${story.speed} times as fast as yours${story.pauseForMe ? ", and as yours while it waits for you" : ""}.`,
  );
  for (const line of pages) screen.say(line);
  await release(world, story, screen);
  const callOff = world.clock.after(DRAINED_FOR_MS, () => {
    if (world.drained === "") return;
    world.undrain();
    screen.note(`${world.drained} is back: its label drained=true is gone`);
  });
  try {
    return await watch({ world, bot, story, screen });
  } finally {
    callOff();
    screen.close();
  }
}

/** Alice opens the release PRs, the bot answers each with its plan, and she merges them. */
async function release(world: EmbeddedWorld, { rollouts }: Story, screen: DemoScreen): Promise<void> {
  const alice = world.github.actAs("alice");
  for (const { name, version } of rollouts) {
    const pull = await world.openReleasePull(alice, version, name);
    screen.say(`alice opens release PR #${pull}: ${name} v1.4.1 → ${version}  ${repositoryUrl(world)}/pull/${pull}`);
    const plan = await world.untilComment(pull, "Plan:");
    if (name === rollouts[0]?.name) screen.show("The bot answers with the plan", plan);
    await alice.mergePull(world.repository, pull, "squash");
    screen.say(`alice merges #${pull}. The run starts.`);
  }
}

/** Mends what was wrong once a run has failed twice, so that a second `/retry` goes through. */
export function openMender(faulty: readonly string[], mend: (cluster: string) => void): (runs: readonly Run[]) => void {
  const failures = new Set<string>();
  let isMended = faulty.length === 0;
  return (runs) => {
    for (const { rollout, paused } of runs) if (paused?.kind === "Failure") failures.add(`${rollout} ${paused.at}`);
    if (isMended || failures.size < FAILURES) return;
    isMended = true;
    for (const cluster of faulty) mend(cluster);
  };
}

interface Watched {
  world: EmbeddedWorld;
  bot: Stagecoach;
  story: Story;
  screen: DemoScreen;
}

function watch({ world, bot, story, screen }: Watched): Promise<Run[]> {
  const place = { url: repositoryUrl(world), token: story.token };
  const names = story.rollouts.map(({ name }) => name);
  /** A person is waited for, and there is none: the end of that run. */
  const isOver = (run: Run) => (isEnded(run) && !isPutBackNext(run)) || (run.phase === "Paused" && !story.pauseForMe);
  const mend = openMender(story.pauseForMe ? story.faulty : [], (cluster) => {
    world.argocd.setFault(cluster, null);
    screen.note(`Somebody mended ${cluster}: the next /retry finds it healthy.`);
  });
  const turnsOf = (runs: readonly Run[]) => (story.pauseForMe ? runs.flatMap((run) => turnOf(modelOf(run, world.clock.now())) ?? []) : []);

  return new Promise((resolve, reject) => {
    let patience: NodeJS.Timeout | undefined;
    let over = false;
    const off = bot.onChange(moved);
    const redraw = setInterval(look, 200);
    function end(): void {
      over = true;
      clearTimeout(patience);
      clearInterval(redraw);
      off();
    }
    function look(): Turn[] {
      const shown = bot.runs().filter(({ run }) => names.includes(run.rollout));
      const runs = shown.map(({ run }) => run);
      mend(runs);
      const turns = turnsOf(runs);
      // Ages stay those of whoever is waited for, and nothing runs out meanwhile.
      const waits = turns.length > 0 && runs.every((run) => isOver(run) || turns.some(({ rollout }) => rollout === run.rollout));
      world.clock.pace?.(waits ? 1 : story.speed);
      if (runs.length > 0)
        screen.draw(
          shown,
          turns.map((turn) => howTo(turn, place)),
        );
      if (runs.length === names.length && runs.every(isOver)) {
        end();
        resolve(runs);
      }
      return turns;
    }
    function moved(): void {
      clearTimeout(patience);
      const most = look().length > 0 ? PATIENCE_WITH_PEOPLE_MS : PATIENCE_MS;
      // Whoever sits there may take their time, and ends it with Ctrl-C.
      if (over || (most === PATIENCE_WITH_PEOPLE_MS && !story.once)) return;
      patience = setTimeout(() => {
        end();
        reject(new CommandError(3, `nothing moved for ${formatDuration(most)}`));
      }, most);
    }
    moved();
  });
}
