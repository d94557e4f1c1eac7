import { mebibytes } from "../../../base/count.ts";
import type { NotGranted, RepoProblems } from "../../../reasons/problems/repo.ts";
import { firstOf } from "../../markdown.ts";
import { isSeveral, sourcePhrase } from "../phrases.ts";
import { didYouMean, problemsOf, sayEntry } from "./entry.ts";
import { sayPin } from "./pins.ts";
import type { GitHubCode } from "./repo-github.ts";

const ONE_MOVES = "one of the two carries the version";
const ONE_DECIDES = "one of the two decides the tag";
const READ_BASE = "let it read {base}";
const TENANCY = "ask the operator to grant more under `tenancy` in the server's configuration";

/** What stands outside of a rollout's file: in the repo and in Argo CD. */
export const REPO_PROBLEMS = problemsOf<Omit<RepoProblems, GitHubCode>>()({
  BASE_NOT_DEFAULT: {
    says: "delivery.base is {base}, and the repo's default branch is {defaultBranch}: batches are written to the default branch only",
    hint: "remove delivery.base and let Argo CD read {defaultBranch}, or make {base} the repo's default branch",
    means: "`delivery.base` names another branch than the repo's default one, and batches are written to that one only",
    todo: "remove `delivery.base` and let Argo CD read the default branch, or make the other branch the default one; [ADR 13](adr/0013-batches-are-written-to-the-default-branch.md) says why",
  },
  BASE_REVISION: {
    says: {
      kind: {
        Generator: "{set}: a git generator reads this repo at {revision}, and batches are written to {base}",
        Parent: "its parent Application {parent} reads {set} at {revision}, and batches are written to {base}",
        Source: (r) =>
          `${firstOf(r.applications, 3)} ${reads(r.applications)} the pin's file at ${r.revision}, and batches are written to ${r.base}`,
        OtherRepo: (r) =>
          `${firstOf(r.applications, 3)} ${reads(r.applications)} the pin's file from ${r.reads}, and batches are written to ${r.repoURL}`,
      },
    },
    hint: {
      kind: {
        ...{ Generator: READ_BASE, Parent: READ_BASE, Source: READ_BASE },
        OtherRepo: "spell it alike if these are one repo; else Argo CD never sees what a batch changes",
      },
    },
    means:
      "a generator, the parent Application or a source reads what batches write from another branch than they write to: a merge would be seen never, or only in part",
  },
  CHART_LOCKED: {
    says: ({ locks, of }) =>
      `${locks.join(", ")}${of > locks.length ? ` and ${of - locks.length} more` : ""}: Helm refuses a chart whose dependencies are not those of its lock file, and pins change them`,
    hint: "remove the lock file, since the pin is exact already",
    means: "a pin is in the `dependencies` of a chart with a `Chart.lock`, which goes stale with every batch",
    warns: true,
  },
  HYDRATED_ELSEWHERE: {
    says: ({ applications: all, shared = "" }) => `${all.join(", ")}: hydrated to another repo${shared && `, several to ${shared}`}`,
    hint: "hydrate to a branch of this repo, or give each Application a branch of its own",
    means: "Argo CD may call an Application hydrated whose path was left as it was, and the bot cannot read that branch",
    warns: true,
  },
  NOT_APPLIED: {
    says: "no Application applies {set} from Git: a batch would wait until somebody does",
    hint: "let a parent Application read that folder (app of apps), or apply the file after each merge",
    means: "nothing brings the ApplicationSet from Git to the cluster",
    warns: true,
  },
  ROLLING_SYNC: {
    says: "{set}: spec.strategy is RollingSync, which switches auto-sync off and stages the syncs itself",
    hint: "remove spec.strategy: the rollout's stages take its place",
    means: "the ApplicationSet stages its syncs itself, and switches auto-sync off for that",
  },
  CREATE_ONLY: {
    says: "{set}: applicationsSync is {policy}, so a change in Git never reaches an Application that is there",
    hint: "write sync or create-update",
    means: "the ApplicationSet creates Applications and never updates them",
  },
  AUTO_SYNC_OFF: {
    says: ({ set, applications }) =>
      `${set}: ${applications === undefined ? "its Applications have" : `${firstOf(applications, 3)} ${applications.length === 1 ? "has" : "have"}`} no syncPolicy.automated, so every batch would wait for a person to sync it`,
    hint: "add syncPolicy: { automated: {} } to the template, or say on its stages that this is meant: sync: Wait, or sync: Request",
    means: "Argo CD would see each batch and wait for a person to sync it",
  },
  IGNORED_PIN: {
    says: "{set}: ignoreApplicationDifferences has {ignored}, so a batch's change of {change} never reaches the Application",
    hint: "take it out of ignoreApplicationDifferences",
    means: "the ApplicationSet is told to leave alone what batches change",
  },
  IMAGE_UPDATER: {
    says: {
      kind: {
        Annotation: ({ set = "the ApplicationSet", applications, annotation }) =>
          `${set}: Argo CD Image Updater also sets the image of ${firstOf(applications, 3)} (${annotation})`,
        Resource: (r) => `${r.declaredIn}: ImageUpdater ${r.name} also sets images of ${firstOf(r.applications, 3)}`,
      },
    },
    hint: {
      kind: {
        Annotation: `remove the annotation, or the image from the pins: ${ONE_DECIDES}`,
        Resource: `take them out of its applicationRefs, or the image out of the pins: ${ONE_DECIDES}`,
      },
    },
    means: "Argo CD Image Updater sets the image that pins set: each undoes the other",
  },
  KARGO_WRITES: {
    says: {
      kind: {
        Annotation: ({ set = "the ApplicationSet", applications, annotation }) =>
          `${set}: Kargo may change ${firstOf(applications, 3)} too, past the stages (${annotation})`,
        Step: "{declaredIn}: {step} of {by} {name} writes {written}, too",
      },
    },
    hint: {
      kind: {
        Annotation: `remove the annotation, or leave them out of this rollout: ${ONE_MOVES}`,
        Step: `remove that step, or the pin: ${ONE_MOVES}`,
      },
    },
    means: "Kargo writes what this rollout's pins write, or may change its Applications: each undoes the other",
  },
  RENOVATE_WRITES: {
    says: "{declaredIn}: Renovate ({manager}) would also change {change} in {written}, for every stage at once",
    hint: "add {written} to its ignorePaths, and let it bump the release: see docs/releases.md",
    means: "Renovate opens pull requests that change what this rollout's pins change",
  },
  RELEASE_NOT_FOUND: {
    says: {
      kind: {
        Unsaid: "rollout {rollout} says nowhere which version to carry",
        NoCommit: "the release is a merge commit of this repo, and none is known here",
        Empty: "{at} is empty",
        NoTag: 'no tag of this repo has a version in {range}[ after "{prefix}"]',
        NoFile: "{name} does not exist; rollout {rollout} takes its release from it",
        Unreadable: "the release's file cannot be read: {said}",
        Pin: (r) => sayPin(r.because).message,
      },
    },
    hint: {
      kind: {
        Unsaid: "set spec.release, or rollouts.NAME.release in .github/stagecoach.yaml",
        NoCommit: "name one: --to COMMIT",
        Empty: "write the version there",
        NoTag: "push one, or correct release.tag",
        NoFile: "[did you mean {near}?|add the file, or correct release in {rolloutFile}]",
        Unreadable: "name a plain file inside the repo",
        Pin: (r) => sayPin(r.because).hint,
      },
    },
    means: "no version to carry: it is said nowhere, or what says it is not there",
    todo: "say the version where the message names it",
  },
  SOURCE_NOT_FOUND: {
    says: {
      kind: {
        NotInRepo: ({ source, inventory }) => {
          const where = inventory ? "the repo or the inventory" : "the repo";
          const what = sourcePhrase(source);
          return isSeveral(source) ? `no ${source.kind} is in ${where} that sourceRef takes: ${what}` : `${what} is not in ${where}`;
        },
        NotInArgo: ({ source }) => `${sourcePhrase(source)} ${isSeveral(source) ? "have" : "has"} no Application in Argo CD`,
        Fleet: "[{said}|Stagecoach cannot read the fleet]",
      },
    },
    hint: {
      kind: {
        NotInRepo: ({ source: { kind }, near, unread }) =>
          unread !== undefined
            ? `split ${unread.file}, if it is in there: that has ${mebibytes(unread.bytes)} MiB, and files of more than 10 are not read; or give --inventory`
            : didYouMean(near, `give --inventory with ${kind === "ApplicationSet" ? "its" : "the"} Applications, or correct sourceRef`),
        NotInArgo: ({ grants, declared, near }) => {
          if (grants !== undefined) return sayGrant(grants);
          if (near !== undefined) return didYouMean(near, "");
          return declared ? "wait until Argo CD has synced it: Git declares it" : "check sourceRef against the ApplicationSets in Argo CD";
        },
        Fleet: "wait: the plan is made as soon as Stagecoach can read it",
      },
    },
    means: "neither the ApplicationSet nor an Application that the selector selects is in the repo or the inventory",
    warns: true,
  },
  CONTROL_PLANE_NOT_GRANTED: {
    says: "this repository may use [control plane {granted}|no control plane][, not {asked}]",
    hint: TENANCY,
    means: "the server's config does not let this repository use that control plane",
    todo: "name one that is granted, or ask the server's operator for a rule under [`tenancy`](configuration.md#tenancy)",
  },
  PROJECT_NOT_GRANTED: {
    says: "of {controlPlane} this repository may see the Argo CD projects {projects}",
    hint: TENANCY,
    means: "what a rollout names may exist, in an Argo CD project that this repository may not see",
    todo: "check `sourceRef`, or ask the server's operator for a rule under [`tenancy`](configuration.md#tenancy)",
  },
  PLANE_LOST: {
    says: ({ said, clusters }) =>
      clusters === undefined
        ? `${said}. Stagecoach has not read it since it started, so its clusters are missing here, and no run starts before it is back`
        : `${said}. Its ${clusters} clusters are planned as they were last read, and batches with one of them wait until it is back`,
    hint: "put the connection right, as the reason says",
    means: "a control plane of the rollout cannot be read now: its clusters are planned as last read, or are missing from the plan",
    todo: "put the connection right, as the reason says; [Several control planes](argocd.md#several-control-planes)",
    warns: true,
  },
  REVISION_UNRESOLVED: {
    says: {
      kind: {
        Absent: "{repo} has no tag or branch {revision} yet, so nobody can say which commit is released",
        Hidden: "{repo} cannot be read from here: which commit {revision} is, is taken from the first cluster that shows it",
      },
    },
    hint: { kind: { Absent: "push the tag before this is merged", Hidden: "let the App see that repository, where it is on this host" } },
    means:
      "the release names a tag that cannot be resolved to a commit beforehand, so that it was moved is noticed from the first cluster on; on a release PR only",
    warns: true,
  },
  IN_QUARANTINE: {
    says: (r) =>
      `Argo CD cannot reach ${firstOf(r.clusters, 10)} now, or it is stopped: the run leaves it out unless it is back when its turn comes`,
    hint: "bring it back before its turn",
    means: "clusters that the rule `quarantine` would leave out now; on a release PR only",
    todo: "nothing, or bring it back before its turn",
    warns: true,
  },
  DEPENDS_NOWHERE: {
    says: "dependsOn {dependency} holds nothing back: it is on none of the clusters of {rollout}",
    hint: "correct the name, or remove it",
    means: "a rollout that this one depends on is on none of its clusters; on a release PR only",
    warns: true,
  },
  WINDOW_CLOSED: {
    says: ({ rule, until }) => {
      const by = rule ? `${rule.kind === "deny" ? "a freeze" : "the window"} ${rule.schedule} (${rule.timeZone})` : "its calendar";
      return `no batch merges now: ${by} holds them${until === undefined ? "" : ` until ${until.slice(0, 16).replace("T", " ")} UTC`}`;
    },
    hint: "merge the PR later, or let its batches wait",
    means: "a window or freeze would hold the release now; on a release PR only",
    warns: true,
  },
  UNSTAGED: {
    says: "merging the PR itself changes clusters, past the stages",
    hint: "give clusters pins of their own",
    means: "merging the PR itself changes clusters, past the stages; only in the check `stagecoach/plan`",
    todo: "give clusters pins of their own; [releases](releases.md#does-it-pass-the-stages-by)",
  },
});

/** Says what is kept from a repository, with its code, inside of another sentence. */
function sayGrant(r: NotGranted): string {
  return `${r.code}: ${sayEntry(REPO_PROBLEMS[r.code], r).message}; ${TENANCY}`;
}

function reads(applications: readonly string[]): string {
  return applications.length === 1 ? "reads" : "read";
}
