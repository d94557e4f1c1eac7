import { isRecord } from "../../core/base/is-record.ts";
import { madeOnce, type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import { readManifests } from "../../core/base/yaml-read.ts";

const LARGEST = 1024 * 1024;
const MOST_STEPS = 5000;
const MOST_STEPS_OF_ONE = 200;
const MOST_VARIABLES = 100;
/** No path, branch or address is longer; variables filled in with variables could be. */
const LONGEST = 4000;

/** What a step of a Kargo Stage or PromotionTask writes to Git: a branch, and files or folders of it. */
export interface KargoWrite {
  file: string;
  kind: "Stage" | "PromotionTask";
  name: string;
  /** Such as `yaml-update`. */
  step: string;
  /** undefined: that is only known when it runs. */
  repoURL: string | undefined;
  /** Branches that get it, by a push or a pull request; `*` where that is only known when it runs. */
  branches: readonly string[];
  /** In the repository; undefined: all that is pushed. */
  path: string | undefined;
}

/** What every Kargo Stage and PromotionTask writes that the repo declares. */
export function kargoIn(files: RepoFiles): readonly KargoWrite[] {
  return madeOnce(files, writesIn);
}

function writesIn(files: RepoFiles): KargoWrite[] {
  const manifests = files.paths().filter((path) => /\.ya?ml$/.test(path));
  return manifests.flatMap((path) => writesOf(path, readOrNull(files, path))).slice(0, MOST_STEPS);
}

function writesOf(file: string, text: string | null): KargoWrite[] {
  if (text === null || text.length > LARGEST || !/^apiVersion:\s*["']?kargo\.akuity\.io\//m.test(text)) return [];
  return readManifests(text).flatMap(({ apiVersion, kind, metadata, spec }) => {
    if (!String(apiVersion).startsWith("kargo.akuity.io/") || !isRecord(metadata) || !isRecord(spec)) return [];
    const name = String(metadata["name"] ?? "");
    if (kind === "PromotionTask") return writesOfSteps({ file, kind, name }, spec);
    const template = isRecord(spec["promotionTemplate"]) ? spec["promotionTemplate"]["spec"] : undefined;
    return kind === "Stage" && isRecord(template) ? writesOfSteps({ file, kind, name }, { ...template, outer: spec["vars"] }) : [];
  });
}

interface Step {
  uses: string;
  config: Record<string, unknown>;
}

/** A checkout's folder, and what is known of it. */
interface Checkout {
  folder: string;
  repoURL: string | undefined;
  branch: string;
}

type Owner = Pick<KargoWrite, "file" | "kind" | "name">;

function writesOfSteps(owner: Owner, spec: Record<string, unknown>): KargoWrite[] {
  const say = variables(owner, [...listOf(spec["outer"]), ...listOf(spec["vars"])]);
  const steps = listOf(spec["steps"])
    .slice(0, MOST_STEPS_OF_ONE)
    .flatMap(({ uses, config }): Step[] => (typeof uses === "string" ? [{ uses, config: isRecord(config) ? config : {} }] : []));
  const checkouts = steps.filter(({ uses }) => uses === "git-clone").flatMap(({ config }) => checkoutsOf(config, say));
  const branchesOf = ({ folder, branch }: Checkout) => {
    const pushed = steps.filter(({ uses, config }) => uses === "git-push" && folderOf(say(config["path"]) ?? "*") === folder);
    const asked = steps.filter(({ uses }) => uses === "git-open-pr").map(({ config }) => say(config["targetBranch"]) ?? "*");
    return pushed.length === 0 ? [] : [...pushed.map(({ config }) => say(config["targetBranch"]) ?? branch), ...asked];
  };
  return checkouts.flatMap((checkout) => {
    const branches = branchesOf(checkout);
    if (branches.length === 0) return [];
    const { repoURL, folder } = checkout;
    const pushes = { ...owner, step: "git-push", repoURL, branches, path: undefined };
    const written = steps.flatMap(({ uses, config }): KargoWrite[] => {
      const path = WRITERS[uses]?.(config, say)
        .map(folderOf)
        .find((one) => one === folder || one.startsWith(`${folder}/`));
      return path === undefined ? [] : [{ ...owner, step: uses, repoURL, branches, path: path.slice(folder.length + 1) || "*" }];
    });
    return [pushes, ...written];
  });
}

type Say = (value: unknown) => string | undefined;

/** Steps that change files, by the name of what they take. */
const WRITERS: Readonly<Record<string, (config: Record<string, unknown>, say: Say) => string[]>> = {
  "yaml-update": ({ path }, say) => texts(say(path)),
  "json-update": ({ path }, say) => texts(say(path)),
  "kustomize-set-image": ({ path }, say) => texts(say(path)).map((folder) => `${folder}/kustomization.y*ml`),
  "helm-update-image": ({ path }, say) => texts(say(path)),
  "helm-update-chart": ({ path }, say) => texts(say(path)).map((folder) => `${folder}/Chart.yaml`),
  "helm-template": ({ outPath }, say) => texts(say(outPath)),
  "kustomize-build": ({ outPath }, say) => texts(say(outPath)),
  copy: ({ outPath }, say) => texts(say(outPath)),
};

function texts(text: string | undefined): string[] {
  return text === undefined ? [] : [text];
}

function checkoutsOf(config: Record<string, unknown>, say: Say): Checkout[] {
  return listOf(config["checkout"]).flatMap(({ path, branch, tag, commit }) => {
    const folder = say(path);
    if (folder === undefined || tag !== undefined || commit !== undefined) return [];
    const url = say(config["repoURL"]);
    return [{ folder: folderOf(folder), repoURL: url?.includes("*") === true ? undefined : url, branch: say(branch) ?? "*" }];
  });
}

/** Fills in what is known of `${{ … }}`; the rest is a `*`, and so is what grows too long. */
function variables({ kind, name }: Owner, written: readonly Record<string, unknown>[]): Say {
  const known = new Map<string, string>(kind === "Stage" ? [["ctx.stage", name]] : []);
  const say: Say = (value) => {
    if (typeof value !== "string") return undefined;
    if (value.length > LONGEST) return "*";
    const text = value.replace(/\$\{\{([^}]*)\}\}/g, (_, inner: string) => known.get(inner.trim().replace(/^["'](.*)["']$/, "$1")) ?? "*");
    return text.length > LONGEST ? "*" : text;
  };
  for (const { name: variable, value } of written.slice(0, MOST_VARIABLES)) {
    const text = say(value);
    if (typeof variable === "string" && text !== undefined) known.set(`vars.${variable}`, text);
  }
  return say;
}

function folderOf(path: string): string {
  return path
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/");
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
