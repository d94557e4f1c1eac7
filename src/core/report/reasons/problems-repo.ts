import type { ProblemData } from "../../reasons/problem.ts";
import type { NotGranted, RepoProblems } from "../../reasons/problems-repo.ts";
import { isSeveral, sourcePhrase } from "./phrases.ts";
import { didYouMean, type ProblemEntries } from "./problem-entry.ts";
import { firstOf } from "./problems-plan.ts";

const ONE_DECIDES = "one of the two decides the tag";
const STRIP = `yq 'del(.items[].data.config, .items[].metadata.annotations)'`;
const TENANCY = "its operator grants more under `tenancy` in the server's config";

/** What stands outside of a rollout's file: in the repo, in Argo CD, on GitHub. */
export const REPO_PROBLEMS: ProblemEntries<RepoProblems> = {
  BASE_NOT_DEFAULT: {
    says: (r) =>
      `delivery.base is ${r.base}, and the repo's default branch is ${r.defaultBranch}: batches are written to the default branch only`,
    hint: (r) => `remove delivery.base and let Argo CD read ${r.defaultBranch}, or make ${r.base} the repo's default branch`,
  },
  BASE_REVISION: { says: baseRevision, hint: (r) => (r.kind === "OtherRepo" ? SPELT : `let it read ${r.base}`) },
  NO_GENERATE_PATHS: {
    says: (r) =>
      `${r.applications} Applications follow this repo of ${r.files} files without ${r.annotation}: Argo CD renders all of them anew at every push, and sees changes late`,
    hint: (r) => `add the annotation ${r.annotation} to the template`,
  },
  NOT_APPLIED: {
    says: (r) => `no Application applies ${r.set} from Git: a batch would wait until somebody does`,
    hint: "let a parent Application read that folder (app of apps), or apply the file after each merge",
  },
  ROLLING_SYNC: {
    says: (r) => `${r.set}: spec.strategy is RollingSync, which switches auto-sync off and stages the syncs itself`,
    hint: "remove spec.strategy: the rollout's stages take its place",
  },
  CREATE_ONLY: {
    says: (r) => `${r.set}: applicationsSync is ${r.policy}, so a change in Git never reaches an Application that is there`,
    hint: "write sync or create-update",
  },
  AUTO_SYNC_OFF: {
    says: ({ set, applications }) =>
      `${set}: ${applications === undefined ? "its Applications" : firstOf(applications, 3)} have no syncPolicy.automated, so every batch would wait for a person to sync it`,
    hint: "add syncPolicy: { automated: {} } to the template",
  },
  IGNORED_PIN: {
    says: (r) =>
      `${r.set}: ignoreApplicationDifferences has ${r.ignored}, so a batch's change of ${r.change} never reaches the Application`,
    hint: "take it out of ignoreApplicationDifferences",
  },
  IMAGE_UPDATER: {
    says: (r) =>
      r.kind === "Resource"
        ? `${r.declaredIn}: ImageUpdater ${r.name} also sets images of ${firstOf(r.applications, 3)}`
        : `${r.set ?? "the ApplicationSet"}: ${firstOf(r.applications, 3)} also have their image set by Argo CD Image Updater (${r.annotation})`,
    hint: (r) =>
      r.kind === "Resource"
        ? `take them out of its applicationRefs, or the image out of the pins: ${ONE_DECIDES}`
        : `remove the annotation, or the image from the pins: ${ONE_DECIDES}`,
  },
  SILENT_CHECK: {
    says: (r) =>
      `the required check "${r.check}" is never reported on a pull request that changes only ${firstOf(r.changed, 3)}: ${firstOf(r.workflows, 3)} does not run for it, and GitHub would wait for ever`,
    hint: "let the workflow run on every pull request to the base and skip its jobs by `if:` (a skipped job counts as passed), or do not require the check",
  },
  INVENTORY_NOT_FOUND: {
    says: (r) => `spec.inventory.file ${r.name} is not there`,
    hint: (r) => didYouMean(r.near, "add the file, or remove spec.inventory"),
  },
  INVENTORY_INVALID: { says: inventory, hint: inventoryHint },
  INVENTORY_CREDENTIALS: {
    says: (r) => `${secretName(r.secret)} holds ${r.holds}: credentials of a cluster do not belong into Git`,
    hint: `replace them, and print the file through ${STRIP}`,
  },
  RELEASE_NOT_FOUND: { says: noRelease, hint: noReleaseHint },
  SOURCE_NOT_FOUND: { says: noSource, hint: noSourceHint },
  CONTROL_PLANE_NOT_GRANTED: {
    says: ({ granted, asked }) => {
      const allowed = granted.length === 0 ? "no control plane" : `control plane ${granted.join(", ")}`;
      return `this repository may use ${allowed}${asked === undefined ? "" : `, not ${asked}`}`;
    },
    hint: TENANCY,
  },
  PROJECT_NOT_GRANTED: {
    says: (r) => `of ${r.controlPlane} this repository may see the Argo CD projects ${r.projects.join(", ")}`,
    hint: TENANCY,
  },
  PLANE_LOST: {
    says: (r) =>
      `${r.said}; ${
        r.clusters === undefined
          ? "it was not read since the start, so its clusters are missing here, and no run starts before it is back"
          : `its ${r.clusters} clusters are planned as they were last read, and batches with one of them wait until it is back`
      }`,
    hint: "do what the reason says",
  },
  IN_QUARANTINE: {
    says: (r) => `${firstOf(r.clusters, 10)} cannot be reached or is stopped now: left out unless back in its turn`,
    hint: "bring it back before its turn",
  },
  TEAM_UNSEEN: {
    says: (r) => `nobody can approve as a member of ${r.teams.join(", ")}: there is no such team, or the App was not given members: read`,
    hint: "correct the slug, or grant members: read",
  },
  DEPENDS_NOWHERE: {
    says: (r) => `dependsOn ${r.dependency} holds nothing back: it is on none of the clusters of ${r.rollout}`,
    hint: "correct the name, or remove it",
  },
  WINDOW_CLOSED: {
    says: ({ rule, until }) => {
      const by =
        rule === undefined ? "its windows" : `${rule.kind === "deny" ? "a freeze" : "the window"} ${rule.schedule} (${rule.timeZone})`;
      return `no batch merges now: ${by} holds them${until === undefined ? "" : ` until ${until.slice(0, 16).replace("T", " ")} UTC`}`;
    },
    hint: "merge the PR later, or let its batches wait",
  },
  UNSTAGED: { says: () => "merging the PR itself changes clusters, past the stages", hint: "give clusters pins of their own" },
};

const SPELT = "if these are one repo, spell it alike; else Argo CD never sees what a batch changes";

function baseRevision(r: ProblemData<"BASE_REVISION">): string {
  if (r.kind === "OtherRepo")
    return `${firstOf(r.applications, 3)} reads the pin's file from ${r.reads}, and batches are written to ${r.repoURL}`;
  return `${whoReads(r)} at ${r.revision}, and batches are written to ${r.base}`;
}

function whoReads(r: Exclude<ProblemData<"BASE_REVISION">, { kind: "OtherRepo" }>): string {
  if (r.kind === "Generator") return `${r.set}: a git generator reads this repo`;
  return r.kind === "Parent" ? `its parent Application ${r.parent} reads ${r.set}` : `${firstOf(r.applications, 3)} reads the pin's file`;
}

function secretName(name: string | undefined): string {
  return name === undefined ? "a Secret" : `Secret ${name}`;
}

function inventory(r: ProblemData<"INVENTORY_INVALID">): string {
  switch (r.kind) {
    case "Unreadable":
      return `${r.name} cannot be read: ${r.said}`;
    case "TooLarge":
      return `${r.name} has ${r.mebibytes} MiB, more than ${r.most}`;
    case "NoCluster":
      return `${r.name} has no cluster Secret (label ${r.label}: cluster)`;
    case "TooMany":
      return `${r.name} has ${r.clusters} clusters, more than ${r.most}`;
    case "NotYaml":
      return `${r.name} is not YAML: ${r.said}`;
    case "Aliases":
      return `${r.name} cannot be read: too many aliases in it`;
    case "NoObject":
      return "this is not a Kubernetes object";
    case "NoKind":
      return "the object has no kind";
    case "LabelType":
      return `label ${r.label} of ${secretName(r.secret)} is not text`;
    case "NoName":
      return `${secretName(r.secret)} names no cluster`;
    case "Twice":
      return `cluster ${r.cluster} is there twice`;
    case "SameServer":
      return `clusters ${r.first} and ${r.second} have the same server`;
  }
}

const INVENTORY_HINTS: Record<ProblemData<"INVENTORY_INVALID">["kind"], string> = {
  Unreadable: "an inventory is a plain file inside the repo",
  TooLarge: "keep cluster Secrets only, without data.config and annotations",
  NoCluster: "print some with kubectl get -o yaml",
  TooMany: "split the rollout",
  NotYaml: "correct it",
  Aliases: "write it without",
  NoObject: "an inventory is what kubectl get -o yaml prints",
  NoKind: "an inventory is what kubectl get -o yaml prints",
  LabelType: "put its value in quotes",
  NoName: "give it data.name in base64, stringData.name or metadata.name",
  Twice: "keep one of them",
  SameServer: "keep one of them",
};

function inventoryHint(r: ProblemData<"INVENTORY_INVALID">): string {
  return INVENTORY_HINTS[r.kind];
}

function noRelease(r: ProblemData<"RELEASE_NOT_FOUND">): string {
  switch (r.kind) {
    case "Unsaid":
      return `rollout ${r.rollout} says nowhere which version to carry`;
    case "NoCommit":
      return "the release is a merge commit of this repo, and none is known here";
    case "NoTag":
      return `no tag of this repo has a version in ${r.range}${r.prefix === undefined ? "" : ` after "${r.prefix}"`}`;
    case "NoFile":
      return `${r.name} is not there; rollout ${r.rollout} takes its release from it`;
    case "Empty":
      return `${r.at} is empty`;
    case "Unreadable":
      return `the release's file cannot be read: ${r.said}`;
    case "Pin":
      return r.said;
  }
}

function noReleaseHint(r: ProblemData<"RELEASE_NOT_FOUND">): string {
  switch (r.kind) {
    case "Unsaid":
      return "set spec.release, or rollouts.NAME.release in .github/stagecoach.yaml";
    case "NoCommit":
      return "name one: --to COMMIT";
    case "NoTag":
      return "push one, or correct release.tag";
    case "NoFile":
      return `add the file, or correct release in ${r.rolloutFile}`;
    case "Empty":
      return "write the version there";
    case "Unreadable":
      return "name a plain file inside the repo";
    case "Pin":
      return r.next;
  }
}

function noSource(r: ProblemData<"SOURCE_NOT_FOUND">): string {
  if (r.kind === "Fleet") return r.said ?? "the fleet cannot be seen";
  if (r.kind === "NotInArgo") return `${sourcePhrase(r.source)} has no Application in Argo CD`;
  const where = r.inventory ? "the repo or the inventory" : "the repo";
  const source = sourcePhrase(r.source);
  return isSeveral(r.source) ? `no Application is in ${where} that sourceRef takes: ${source}` : `${source} is not in ${where}`;
}

function noSourceHint(r: ProblemData<"SOURCE_NOT_FOUND">): string {
  if (r.kind === "Fleet") return "the plan is made as soon as it can";
  if (r.kind === "NotInRepo")
    return `give --inventory with ${r.source.kind === "ApplicationSet" ? "its" : "the"} Applications, or correct sourceRef`;
  if (r.grants !== undefined) return sayGrant(r.grants);
  return r.declared ? "Git declares it: wait until Argo CD has synced it" : "check sourceRef against the ApplicationSets in Argo CD";
}

/** Says what is kept from a repository, with its code, inside of another sentence. */
export function sayGrant(r: NotGranted): string {
  const said = r.code === "PROJECT_NOT_GRANTED" ? REPO_PROBLEMS[r.code].says(r) : REPO_PROBLEMS[r.code].says(r);
  return `${r.code}: ${said}; ${TENANCY}`;
}
