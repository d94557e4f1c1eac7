/** Says why init proposes no rollout for something of a repo, and what to do. Told by `show.ts` and `body.ts`. */
import { mebibytes } from "../../base/count.ts";
import type { Hindrance, Objection } from "../../reasons/onboarding.ts";
import { few } from "../reasons/phrases.ts";
import { sayProblem } from "../reasons/problems/problems.ts";
import { sayRender } from "../reasons/render.ts";
import { labelHint, placeForEach, sayPlace, saySlot, slotOf, versionHint } from "./places.ts";

interface SaidHindrance {
  why: string;
  hint: string;
}

const LIVE = "give --inventory with the Applications as they live: kubectl get applications,applicationsets -n argocd -o yaml";
const EACH_PLANE =
  "give what lives in each Argo CD by a name (--inventory dev=FILE --inventory prod=FILE, or --from-argocd), or in one alone";
const ALONE = "where several belong together, write a rollout with sourceRef.kind: Application and a selector";

export function sayHindrance(hindrance: Hindrance): SaidHindrance {
  switch (hindrance.kind) {
    case "TooManyFiles":
    case "TooLarge":
    case "TooMuchText":
    case "HelmTemplate":
    case "Broken":
    case "NoName":
      return sayUnread(hindrance);
    case "NotRendered":
    case "ClustersUnknown":
    case "ClusterUnknown":
    case "NoApplications":
    case "Patched":
    case "Changed":
      return sayUnrendered(hindrance);
    case "OneVersionForAll":
    case "NoPin":
    case "NoVersion":
    case "Parents":
    case "Disproved":
      return sayUnpinned(hindrance);
    default:
      return sayUnstaged(hindrance);
  }
}

type Of<Kind extends Hindrance["kind"]> = Extract<Hindrance, { kind: Kind }>;

function sayUnread(hindrance: Of<"TooManyFiles" | "TooLarge" | "TooMuchText" | "HelmTemplate" | "Broken" | "NoName">): SaidHindrance {
  switch (hindrance.kind) {
    case "TooLarge":
      return {
        why: `it has ${mebibytes(hindrance.bytes)} MiB, and files of more than 10 are not read: what it declares is not known`,
        hint: "where it declares ApplicationSets or Applications, split it, or have the generator read its elements from files",
      };
    case "TooMuchText":
      return {
        why: `${hindrance.files} of its YAML and JSON files were not read, as all of them are more than is read of one commit`,
        hint: "run `stagecoach init` on a checkout, which reads them all",
      };
    case "TooManyFiles":
      return {
        why: `it has ${hindrance.files} YAML and JSON files, and the first ${hindrance.looked} were looked at`,
        hint: "write rollouts for the rest by hand, from one of those proposed",
      };
    case "HelmTemplate":
      return {
        why: `Helm makes them, of ${hindrance.templates === 1 ? "a template" : `${hindrance.templates} templates`}: which there are is known only once that is rendered`,
        hint: LIVE,
      };
    case "Broken":
      return { why: `it is broken ${hindrance.is}: ${hindrance.problem}`, hint: "correct it" };
    case "NoName":
      return { why: "it has no name of its own", hint: "give it one" };
  }
}

function sayUnrendered(
  hindrance: Of<"NotRendered" | "ClustersUnknown" | "ClusterUnknown" | "NoApplications" | "Patched" | "Changed">,
): SaidHindrance {
  switch (hindrance.kind) {
    case "NotRendered": {
      if (hindrance.problem === undefined) return { why: "it cannot be rendered", hint: "check it" };
      const { message, hint } = sayRender(hindrance.problem);
      // With its Applications at hand nothing has to be rendered here.
      return { why: `${hindrance.problem.where}: ${message}`, hint: hindrance.problem.code.startsWith("UNSUPPORTED_") ? LIVE : hint };
    }
    case "ClustersUnknown":
      return {
        why: "it takes its clusters from Argo CD, and none is known here",
        hint: "give --inventory with the cluster Secrets: kubectl get secrets -n argocd -l argocd.argoproj.io/secret-type=cluster -o yaml",
      };
    case "ClusterUnknown": {
      const { application, destination } = hindrance;
      const nowhere = `${application} has no destination: its template names neither a cluster nor a server`;
      if (destination === undefined) return { why: nowhere, hint: "fill in destination.name or destination.server, then run init again" };
      return { why: `${application} names no cluster that is known: ${destination}`, hint: "give --inventory with its Secret" };
    }
    case "NoApplications":
      return sayNoApplications(hindrance);
    case "Patched": {
      const { why } = sayHindrance(hindrance.plain);
      return {
        why: `kustomize patches it in ${hindrance.folder}, and only Argo CD knows what it makes then (as it stands: ${why})`,
        hint: LIVE,
      };
    }
    case "Changed": {
      const { folder, by, applications } = hindrance;
      return { why: `kustomize changes ${few(applications)} in ${folder} (${by}), and only Argo CD knows what it makes then`, hint: LIVE };
    }
  }
}

function sayNoApplications({ labels: [first, ...others], patterns }: Of<"NoApplications">): SaidHindrance {
  if (first === undefined && patterns.length > 0)
    return {
      why: `it yields no Application: nothing in this repo matches ${few(patterns)}, where its git generator looks`,
      hint: "correct the pattern, or add what it looks for; nothing is to be done where that comes later",
    };
  if (first === undefined)
    return {
      why: "it yields no Application: no cluster and no file that is known here matches its generators",
      hint: "check its generators, and that --inventory has the clusters",
    };
  const more = others.length === 0 ? "" : `, nor ${others.slice(0, 3).join(", ")}`;
  return {
    why: `it yields no Application: no cluster that is known here has the label ${first}${more}, by which it selects them`,
    hint: "label the clusters in Argo CD, or give --inventory with those that are",
  };
}

function sayUnpinned(hindrance: Of<"OneVersionForAll" | "NoPin" | "NoVersion" | "Parents" | "Disproved">): SaidHindrance {
  switch (hindrance.kind) {
    case "OneVersionForAll": {
      const { applications, slot, file, path } = hindrance;
      return {
        why: `its version stands once for all ${applications} Applications (${slot}, ${file} ${path}): they can only move together`,
        hint: placeForEach(hindrance),
      };
    }
    case "NoPin":
      return {
        why: saySlot(slotOf(hindrance)),
        hint:
          labelHint(hindrance.slots) ??
          "name the places by hand: pins of the rollout may use cluster.name, cluster.labels.X, application.name, application.path and params.X",
      };
    case "NoVersion": {
      const [because] = hindrance.because;
      const outside = "no fixed version was found: it follows a branch, or takes its version from somewhere outside this repo";
      const why = hindrance.anywhere ? "no version was found that all its Applications have" : because ? sayPlace(because) : outside;
      return { why, hint: versionHint(hindrance) };
    }
    case "Parents":
      return {
        why: `they make other Applications, and have no version of their own: those are what is staged`,
        hint: "nothing is to be done",
      };
    case "Disproved": {
      const [first] = hindrance.against;
      const hint = first?.kind === "Problem" ? sayProblem(first.problem).hint : "correct what it names";
      return { why: first === undefined ? "" : sayObjection(first), hint: `${hint}; then run init again, or write the rollout by hand` };
    }
  }
}

/** What stands against one rollout. */
export function sayObjection(objection: Objection): string {
  switch (objection.kind) {
    case "NotWritten":
      return `a version cannot be written to ${objection.file}`;
    case "ChangesNothing":
      return `a release would change nothing of ${few(objection.applications)}`;
    case "ChangesOthers":
      return `a release would also change ${few(objection.applications)}, which would be in no stage`;
    case "Problem":
      return `${objection.problem.code}: ${sayProblem(objection.problem).message}`;
  }
}

type Unstaged = Exclude<
  Hindrance,
  Parameters<typeof sayUnread>[0] | Parameters<typeof sayUnrendered>[0] | Parameters<typeof sayUnpinned>[0]
>;

function sayUnstaged(hindrance: Unstaged): SaidHindrance {
  switch (hindrance.kind) {
    case "DeclaredTwice":
      return {
        why: `another file declares all it makes already, such as ${hindrance.application}: each is another Argo CD's, or another overlay's, and nothing in the repo says which`,
        hint: EACH_PLANE,
      };
    case "SameName":
      return {
        why: `several files declare an Application of one name, such as ${hindrance.application} (${few(hindrance.files)}): each is another Argo CD's, or another overlay's, and nothing in the repo says which`,
        hint: `${EACH_PLANE}; see docs/layouts/argocd-per-cluster.md`,
      };
    case "OneApplication":
    case "NothingAlike":
    case "EachAlone":
    case "OnlyOne":
    case "Jsonnet":
      return sayAlone(hindrance);
    case "PartlyStaged":
      return {
        why: `rollout "${hindrance.rollout}" has some of them already, but not ${few(hindrance.applications)}`,
        hint: `widen sourceRef.selector of ${hindrance.file}`,
      };
    case "EnoughProposed":
      return {
        why: `${hindrance.rollouts} rollouts are proposed already`,
        hint: "merge those, then run init again: what has a rollout is passed over",
      };
  }
}

const NOTHING_TO_DO = "nothing is to be done, unless more environments or clusters join";

/** Of what no other runs the same. */
function sayAlone(hindrance: Of<"OneApplication" | "NothingAlike" | "EachAlone" | "OnlyOne" | "Jsonnet">): SaidHindrance {
  switch (hindrance.kind) {
    case "OneApplication":
      return {
        why: `it makes one Application, on ${hindrance.cluster ?? "one cluster"}: there is nothing to stage`,
        hint: NOTHING_TO_DO,
      };
    case "NothingAlike":
      return {
        why: `${hindrance.alone} of its ${hindrance.applications} Applications run something that no other Application runs in another environment: there is nothing to stage`,
        hint: ALONE,
      };
    case "EachAlone":
      return {
        why: `${hindrance.applications === 1 ? "it" : "each"} runs something that no other one runs on another cluster or in another environment, so there is nothing to stage`,
        hint: ALONE,
      };
    case "OnlyOne":
      return {
        why: "it is the only one, for one environment: there is nothing to stage",
        hint: NOTHING_TO_DO,
      };
    case "Jsonnet":
      return {
        why: `Jsonnet renders its folder ${hindrance.folder}: which Applications and versions that makes, Argo CD alone knows`,
        hint: LIVE,
      };
  }
}
