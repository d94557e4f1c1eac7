import { packet } from "../git/pack.ts";
import { runGit } from "../git/run-git.ts";
import { commandReader } from "../http/receive-pack.ts";
import type { Actor, Repo, World } from "../model/model.ts";
import type { Moved } from "../pulls/refs-moved.ts";
import { moveRefusals } from "./ref-rules.ts";
import { bypasses, rulesetRules } from "./rules.ts";

/**
 * A push has to be looked at before it is taken where rulesets hold its branches against whoever pushes, or where it may change workflows
 * and an App must not. Without any workflow on the default branch the second is let pass: looking costs a process.
 */
async function mustJudge(world: World, repo: Repo, actor: Actor, moves: readonly Moved[]): Promise<boolean> {
  const branches = moves.flatMap(({ ref }) => (ref.startsWith("refs/heads/") ? [ref.slice("refs/heads/".length)] : []));
  const isHeld = (branch: string) => rulesetRules(repo, branch).some(({ ruleset }) => !bypasses(world, repo, ruleset, actor, false));
  if (branches.some(isHeld)) return true;
  if (actor.kind !== "installation" || actor.permissions?.["workflows"] === "write") return false;
  return (await repo.git.cat.info(`refs/heads/${repo.defaultBranch}:.github/workflows`)) !== undefined;
}

/**
 * Reads the pack into the repository, where it harms nobody, and asks the rules about every ref that is to move. Gives
 * git's answer where one is refused: then none moves.
 */
export async function judgePush(world: World, repo: Repo, actor: Actor, body: Buffer): Promise<Buffer | undefined> {
  const reader = commandReader();
  reader.push(body);
  const moves = reader.commands();
  if (!(await mustJudge(world, repo, actor, moves))) return undefined;
  const pack = body.indexOf("PACK");
  if (pack >= 0) await runGit(repo.git.dir, ["index-pack", "--stdin", "--fix-thin"], body.subarray(pack));
  const refusals = new Map<Moved, string[]>();
  for (const move of moves) {
    const found = await moveRefusals(world, repo, actor, move);
    if (found.length > 0) refusals.set(move, found);
  }
  return refusals.size === 0 ? undefined : refusedAnswer(moves, refusals, body.toString("latin1", 0, 4096));
}

/** As receive-pack reports: what is to be read by people on the second band, one `ng` a ref on the first. */
function refusedAnswer(moves: readonly Moved[], refusals: ReadonlyMap<Moved, string[]>, capabilities: string): Buffer {
  const lines = moves.map((move) => {
    const [first = ""] = refusals.get(move) ?? [];
    const reason = first.startsWith("refusing to allow") ? first : "push declined due to repository rule violations";
    return packet(`ng ${move.ref} ${reason}\n`);
  });
  const report = Buffer.concat([packet("unpack ok\n"), ...lines, Buffer.from("0000")]);
  if (!capabilities.includes("side-band-64k")) return report;
  const told = [...refusals].map(
    ([move, texts]) => `error: GH013: Repository rule violations found for ${move.ref}.\n\n- ${texts.join("\n\n- ")}\n\n`,
  );
  return Buffer.concat([
    packet(Buffer.concat([Buffer.from([2]), Buffer.from(told.join("").slice(0, 60_000))])),
    packet(Buffer.concat([Buffer.from([1]), report])),
    Buffer.from("0000"),
  ]);
}
