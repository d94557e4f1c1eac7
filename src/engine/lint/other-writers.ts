import type { RenderedApplication } from "../../core/appset/types.ts";
import { pathMatcher } from "../../core/base/path-glob.ts";
import { type Edit, filesOf } from "../../core/plan/plan-types.ts";
import type { Finding } from "../../core/reasons/problems/problem.ts";
import { sameRepo } from "../config-repo/repo-url.ts";
import { AT_SOURCE, type Gathered } from "./gathered.ts";
import { pinsAnImage } from "./ignored-pins.ts";
import type { KargoWrite } from "./kargo.ts";

const UPDATER = "argocd-image-updater.argoproj.io/";
const AUTHORIZED = "kargo.akuity.io/authorized-stage";

/** Others that write what this rollout's pins write: each would undo the other, or carry the version past the stages. */
export function otherWriters(gathered: Gathered): Finding[] {
  return [...imageUpdater(gathered), ...kargoWrites(gathered), ...renovateWrites(gathered)];
}

/** Image Updater would write the same tag as the pins, and each undo the other. It is told by annotations or, since its 1.0, by a resource. */
function imageUpdater({ rollout, set, rendered, updaters = [] }: Gathered): Finding[] {
  if (!pinsAnImage(rollout) || rendered === undefined) return [];
  const findings: Finding[] = [];
  const annotated = rendered.filter(({ metadata }) =>
    Object.keys(metadata.annotations ?? {}).some((key) => key.startsWith(`${UPDATER}image-list`)),
  );
  if (annotated.length > 0)
    findings.push({
      code: "IMAGE_UPDATER",
      ...{ kind: "Annotation", set: set?.file, applications: annotated.map(nameOf), annotation: `${UPDATER}image-list` },
      path: AT_SOURCE,
    });
  for (const { file, name, namespace, takes } of updaters) {
    if (namespace !== undefined && namespace !== rollout.source.namespace) continue;
    const taken = rendered.filter(({ metadata }) => takes({ name: metadata.name, labels: metadata.labels ?? {} }));
    if (taken.length === 0) continue;
    findings.push({ code: "IMAGE_UPDATER", kind: "Resource", declaredIn: file, name, applications: taken.map(nameOf), path: AT_SOURCE });
  }
  return findings;
}

function kargoWrites({ rendered = [], edits, kargo = [], repoURL, base, set }: Gathered): Finding[] {
  const findings: Finding[] = [];
  const stages = rendered.filter(({ metadata }) => typeof metadata.annotations?.[AUTHORIZED] === "string");
  if (stages.length > 0) {
    const applications = stages.map(({ metadata }) => metadata.name);
    const data = { set: set?.file, applications, annotation: AUTHORIZED };
    findings.push({ code: "KARGO_WRITES", kind: "Annotation", severity: "warning", ...data, path: AT_SOURCE });
  }
  const all = [...edits.values()].flat();
  for (const write of kargo) {
    if (repoURL !== undefined && write.repoURL !== undefined && !sameRepo(repoURL, write.repoURL)) continue;
    const hit = all.find((edit) => isHit(write, edit, base));
    if (hit === undefined) continue;
    const { file: declaredIn, kind: by, name, step } = write;
    const written = hit.kind === "branch" ? hit.path : hit.kind === "copy" ? `${hit.file}/` : hit.file;
    findings.push({ code: "KARGO_WRITES", kind: "Step", declaredIn, by, name, step, written, path: ["spec", "pins"] });
  }
  return findings;
}

function isHit({ branches, path }: KargoWrite, edit: Edit, base: string | undefined): boolean {
  if (edit.kind === "branch") return path === undefined && branches.some((branch) => branch !== "*" && pathMatcher([branch])(edit.path));
  if (path === undefined || path === "*" || (base !== undefined && !branches.some((branch) => branch === base || branch === "*")))
    return false;
  const hits = pathMatcher([path]);
  return hits(edit.file) || filesOf(edit).some(hits);
}

function renovateWrites({ edits, renovate }: Gathered): Finding[] {
  if (renovate === undefined) return [];
  for (const edit of new Set([...edits.values()].flat())) {
    const manager = edit.kind === "value" ? renovate.managerOf(edit) : undefined;
    if (manager !== undefined)
      return [
        {
          ...{ code: "RENOVATE_WRITES", severity: "warning", declaredIn: renovate.file, manager, written: edit.file, change: edit.path },
          path: ["spec", "pins"],
        },
      ];
  }
  return [];
}

function nameOf({ metadata }: RenderedApplication): string {
  return metadata.name;
}
