import { SHORT_LAG } from "../../src/sim/argocd/application/lag.ts";
import { githubPage } from "../support/github-page.ts";
import { type Journey, short, startJourney } from "../support/journey.ts";
import type { BenchRow } from "./row.ts";

/** What a person sees of the run, besides the reactions to their comment. */
interface Seen {
  /** Of the batch's PR: `closed`, or what its gate says. */
  batch: string;
  /** The bot's answers on the release PR. */
  answers: string;
}

/** In this order: each leaves the run where the next one means something. By what its effect is seen; without that, by 🚀. */
const COMMENTS: { text: string; shows?: (now: Seen, before: Seen) => boolean }[] = [
  { text: "/pause slow page", shows: ({ batch }) => /paused/i.test(batch) },
  { text: "/resume", shows: ({ batch }) => !/paused/i.test(batch) },
  { text: "/skip us-east-1-d" },
  { text: "/status", shows: ({ answers }, before) => answers !== before.answers },
  { text: "/requeue us-east-1-c --for 1h" },
  { text: "/plan", shows: ({ answers }, before) => answers !== before.answers },
  { text: "/pause", shows: ({ batch }) => /paused/i.test(batch) },
  { text: "/abort", shows: ({ batch }) => /closed|abort/i.test(batch) },
];
/** Of the wall's time, between two looks at the comment. */
const LOOK_MS = 40;
const PATIENCE_MS = 60_000;

interface Answered {
  text: string;
  /** From the comment to 👀, to its effect being seen, and to 🚀, in milliseconds. */
  seen: number;
  effect: number;
  done: number;
}

/**
 * A person's comment on the release PR of a run that waits for a person, at the wall's own speed and with the bot's writes about a
 * second apart, as GitHub wants them: how long until 👀, until what it does is seen, and until 🚀, which a command that stops
 * merges gets only once nothing can merge any more.
 */
export async function benchCommands(): Promise<BenchRow[]> {
  const journey = await startJourney({ speed: 1, lag: SHORT_LAG, pacing: true, files: short({ byHand: true }) });
  try {
    const pull = await journey.release();
    const run = await journey.until("the first batch waits", ({ batches }) => batches.some((batch) => batch.phase === "Open"));
    const batch = run.batches[0]?.pull?.number ?? Number.NaN;
    const answered: Answered[] = [];
    for (const comment of COMMENTS) {
      await quiet(journey);
      answered.push(await measured(journey, { pull, batch }, comment));
    }
    const worst = (of: "seen" | "effect") => answered.reduce((a, b) => (a[of] >= b[of] ? a : b));
    const [seen, effect] = [worst("seen"), worst("effect")];
    // The journal and the gate: two writes, a second apart.
    return [
      { name: `comment → 👀, worst of ${answered.length} (${seen.text})`, value: seen.seen, unit: "ms", limit: 1000 },
      { name: `comment → effect seen, worst of ${answered.length} (${effect.text})`, value: effect.effect, unit: "ms", limit: 3000 },
      ...answered.map(({ text, done }) => ({ name: `${text} → 🚀`, value: done, unit: "ms" })),
    ];
  } finally {
    await journey.close();
  }
}

async function measured(
  { world }: Journey,
  { pull, batch }: { pull: number; batch: number },
  { text, shows }: (typeof COMMENTS)[number],
): Promise<Answered> {
  const page = githubPage(world);
  const before = await look(page, pull, batch);
  const began = performance.now();
  const comment = world.github.actAs("alice").comment(world.repository, pull, text);
  let seen: number | undefined;
  let effect: number | undefined;
  while (performance.now() - began < PATIENCE_MS) {
    const reactions = (await page.get(`/issues/comments/${comment}/reactions`)) as { content: string }[];
    const has = (content: string) => reactions.some((reaction) => reaction.content === content);
    if (has("confused")) throw new Error(`${text} was refused`);
    if (has("eyes")) seen ??= performance.now() - began;
    if (shows?.(await look(page, pull, batch), before) === true) effect ??= performance.now() - began;
    if (has("rocket")) {
      const done = performance.now() - began;
      return { text, seen: seen ?? done, effect: effect ?? done, done };
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new Error(`${text} was not answered within ${PATIENCE_MS / 1000} s`);
}

async function look(page: ReturnType<typeof githubPage>, pull: number, batch: number): Promise<Seen> {
  const { state, head } = await page.pull(batch);
  const gate = await page.check(head.sha, "stagecoach/gate");
  const comments = await page.comments(pull);
  return { batch: state === "closed" ? state : (gate ?? ""), answers: comments.map(({ body }) => body).join("\n") };
}

/** A person reads before they write again: what the bot still has to write of the last command is over then. */
async function quiet(journey: Journey): Promise<void> {
  await journey.bot.idle();
  await new Promise((resolve) => setTimeout(resolve, 4000));
}
