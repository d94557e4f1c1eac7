import { Command } from "commander";
import { cell, code } from "../../../core/report/escape.ts";
import { sayProblem } from "../../../core/report/reasons/problems/problems.ts";
import { parseRepoConfig } from "../../../core/spec/parse/config.ts";
import { parseRollouts } from "../../../core/spec/parse/parse.ts";
import { SETTINGS_FILE } from "../../../core/spec/repo-config.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { otherBase } from "../../../engine/config-repo/base-branch.ts";
import { isRolloutFile } from "../../../engine/config-repo/project.ts";
import { outputOption, parseArgs } from "../args.ts";
import { CommandError } from "../command.ts";
import { formatData, isData, plain } from "../print.ts";
import { withProgress } from "../progress.ts";
import { asking, type GitHubPlace, openPlace } from "../steer/github-place.ts";
import { editedFiles, type ReadText, type ReleaseEdit, releaseEdits } from "./release-edits.ts";

interface Options {
  repo: string;
  repository?: string;
  base?: string;
  dryRun?: boolean;
  output: "text" | "json" | "yaml";
}

function program(): Command {
  return new Command("stagecoach release")
    .usage("NAME VERSION|VALUE=VERSION… [options]")
    .description("opens the release's pull request, as you: it changes the value the rollout is released by, and nothing else")
    .argument("<name>", "the rollout")
    .argument("<version...>", "the version; VALUE=VERSION where the release has several values")
    .option("--repo <dir>", "clone of the config repo", ".")
    .option("-R, --repository <owner/name>", "the repo on GitHub, no clone is needed then; default: the clone's remote, or GH_REPO")
    .option("--base <branch>", "what it is to be merged into; default: the repo's default branch")
    .option("--dry-run", "show what it would change, and open nothing")
    .addOption(outputOption("text", "json", "yaml"))
    .addHelpText(
      "after",
      "\nNeeds a token of yours: GH_TOKEN or GITHUB_TOKEN, and GH_HOST with GH_ENTERPRISE_TOKEN for GitHub Enterprise Server.",
    );
}

/** `stagecoach release NAME VERSION`. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = parseArgs(program(), argv);
  if (command === undefined) return 0;
  const options = command.opts<Options>();
  const [name = "", ...versions] = command.args;
  const wanted = valuesOf(versions);
  const place = await openPlace(options);
  const base = await withProgress("asking GitHub", async () => await openBase(place, options.base));
  const rollout = await withProgress("reading the rollouts", async () => await findRollout(base, name));
  const [refused] = otherBase(rollout, base.branch);
  if (refused !== undefined) throw new CommandError(1, `${name}: ${sayProblem(refused).message}; ${sayProblem(refused).hint}`);
  const edits = await releaseEdits(rollout, wanted, base.read);
  if (edits.every((edit) => edit.from === edit.to)) {
    const version = Object.values(wanted).join(", ");
    throw new CommandError(1, `${name} is released at ${version} already; to release it again raise release.attempt`);
  }
  const files = await editedFiles(edits, base.read);
  const opened =
    options.dryRun === true
      ? undefined
      : await withProgress("opening the pull request", () => openPull(place, base, rollout, edits, files));
  process.stdout.write(shown(rollout, edits, opened, options.output));
  return 0;
}

/** `v1.2` or `chart=1.2.0 image=v3`. */
function valuesOf(versions: readonly string[]): Record<string, string> {
  const wanted: Record<string, string> = {};
  for (const text of versions) {
    const [, name = "version", value = text] = /^([A-Za-z][A-Za-z0-9_]*)=(.*)$/s.exec(text) ?? [];
    if (value === "" || /[\r\n]/.test(value)) throw new CommandError(2, `"${plain(text)}" is no version`);
    if (Object.hasOwn(wanted, name))
      throw new CommandError(2, name === "version" ? "one version, or VALUE=VERSION for several values" : `${name} is given twice`);
    wanted[name] = value;
  }
  return wanted;
}

/** The base branch as it is on GitHub now, which is what the pull request will be against. */
interface Base {
  branch: string;
  commit: string;
  tree: string;
  read: ReadText;
  rolloutFiles(): Promise<string[]>;
}

async function openBase(place: GitHubPlace, wanted: string | undefined): Promise<Base> {
  const { octokit, owner, repo } = place;
  const branch = wanted ?? (await asking(`read ${owner}/${repo}`, () => octokit.rest.repos.get({ owner, repo }))).data.default_branch;
  const { data } = await asking(`read branch ${branch}`, () => octokit.rest.git.getRef({ owner, repo, ref: `heads/${branch}` }));
  const commit = data.object.sha;
  const made = await asking(`read commit ${commit.slice(0, 10)}`, () => octokit.rest.git.getCommit({ owner, repo, commit_sha: commit }));
  const texts = new Map<string, string | null>();
  return {
    branch,
    commit,
    tree: made.data.tree.sha,
    async read(file) {
      const known = texts.get(file);
      if (known !== undefined) return known;
      const text = await readText(place, file, commit);
      texts.set(file, text);
      return text;
    },
    async rolloutFiles() {
      const tree = await asking("list the repo's files", () =>
        octokit.rest.git.getTree({ owner, repo, tree_sha: commit, recursive: "true" }),
      );
      return tree.data.tree.flatMap((entry) =>
        entry.type === "blob" && entry.mode !== "120000" && isRolloutFile(entry.path ?? "") ? [entry.path ?? ""] : [],
      );
    },
  };
}

async function readText({ octokit, owner, repo }: GitHubPlace, path: string, ref: string): Promise<string | null> {
  const answer = await octokit.rest.repos.getContent({ owner, repo, path, ref }).catch((error: { status?: number }) => {
    if (error.status === 404) return null;
    return asking(`read ${path}`, () => Promise.reject(error));
  });
  const data = answer?.data;
  if (data === undefined || Array.isArray(data) || data.type !== "file" || !("content" in data)) return null;
  return Buffer.from(data.content, "base64").toString("utf8");
}

async function findRollout(base: Base, name: string): Promise<Rollout> {
  const config = parseRepoConfig(await base.read(SETTINGS_FILE), SETTINGS_FILE);
  const names: string[] = [];
  for (const file of await base.rolloutFiles()) {
    const { rollouts, problems } = parseRollouts((await base.read(file)) ?? "", file, config.rollouts);
    const found = rollouts.find((rollout) => rollout.name === name);
    if (found !== undefined) return found;
    names.push(...rollouts.map((rollout) => rollout.name));
    const broken = problems.find((problem) => problem.severity === "error");
    if (broken !== undefined) names.push(`one with an error (${broken.file}:${broken.line}: ${sayProblem(broken).message})`);
  }
  const known = names.length === 0 ? "it has none at all" : `it has ${names.slice(0, 10).map(plain).join(", ")}`;
  throw new CommandError(1, `${base.branch} has no rollout "${plain(name)}"; ${known}`);
}

interface Opened {
  number: number;
  url: string;
  branch: string;
  /** It was there already. */
  found: boolean;
}

async function openPull(
  place: GitHubPlace,
  base: Base,
  rollout: Rollout,
  edits: readonly ReleaseEdit[],
  files: ReadonlyMap<string, string>,
): Promise<Opened> {
  const { octokit, owner, repo } = place;
  const version = edits.map((edit) => (edit.name === "version" ? edit.to : `${edit.name}=${edit.to}`)).join(", ");
  const branch = `release/${rollout.name}-${version.replaceAll(/[^\w.-]+/g, "-")}`.slice(0, 200).replace(/(?<![.-])[.-]+$/, "");
  const there = await asking("look for its pull request", () =>
    octokit.rest.pulls.list({ owner, repo, head: `${owner}:${branch}`, state: "open" }),
  );
  const before = there.data.find((pull) => pull.head.ref === branch);
  if (before !== undefined) return { number: before.number, url: before.html_url, branch, found: true };
  const title = `Release ${rollout.name} ${version}`;
  const tree = await asking("write the change", () =>
    octokit.rest.git.createTree({
      owner,
      repo,
      base_tree: base.tree,
      tree: [...files].map(([path, content]) => ({ path, content, mode: "100644" as const, type: "blob" as const })),
    }),
  );
  const commit = await asking("write the commit", () =>
    octokit.rest.git.createCommit({ owner, repo, message: title, tree: tree.data.sha, parents: [base.commit] }),
  );
  await asking(`make branch ${branch}`, () =>
    octokit.rest.git.createRef({ owner, repo, ref: `refs/heads/${branch}`, sha: commit.data.sha }),
  );
  const rows = edits.map(({ file, path, from, to }) => `| ${code(file)} | ${code(path)} | ${code(from)} → ${code(to)} |`);
  const body = `Releases **${cell(rollout.name)}**. Stagecoach comments the plan; merging starts the run.\n\n| file | value | change |\n| --- | --- | --- |\n${rows.join("\n")}`;
  const { data } = await asking("open the pull request", () =>
    octokit.rest.pulls.create({ owner, repo, head: branch, base: base.branch, title, body }),
  );
  return { number: data.number, url: data.html_url, branch, found: false };
}

function shown(rollout: Rollout, edits: readonly ReleaseEdit[], opened: Opened | undefined, output: Options["output"]): string {
  if (isData(output)) return formatData({ rollout: rollout.name, edits, pull: opened ?? null }, output);
  const lines = edits.map(({ file, path, from, to }) => `${plain(file)}: ${plain(path)} ${plain(from)} → ${plain(to)}`);
  if (opened === undefined) lines.push("Nothing was opened: --dry-run.");
  else lines.push(`${opened.found ? "There is one already" : "Opened"}: ${plain(opened.url)}`);
  return `${lines.join("\n")}\n`;
}
