/** What a merge changes among the objects that a parent Application renders. Called by `judge-parents.ts`, which asks for them. */
import type { ControlPlane, RenderedObject } from "../../../adapters/argocd/port.ts";
import { metadataDifference } from "../../../core/appset/compare.ts";
import type { RenderedApplication, RenderResult } from "../../../core/appset/types.ts";
import type { ApplicationView } from "../../../core/argocd/views.ts";
import { isRecord } from "../../../core/base/is-record.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import type { RenderedObjects } from "../../config-repo/parent-renders.ts";
import { specDifference } from "../../config-repo/same-spec.ts";
import type { GuardProblem } from "./edits.ts";

/** What a parent makes of the base, and of the base with the batch on it. */
export interface ParentSides {
  parent: ApplicationView;
  before: RenderedObjects;
  after: RenderedObjects;
}

/** Objects that are neither the batch's sets nor Applications: they stay as they are. */
export function judgeOthers(
  plane: ControlPlane,
  { parent, before, after }: ParentSides,
  sets: ReadonlySet<string>,
): GuardProblem | undefined {
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(id), after.get(id)];
    const one = (is ?? was) as RenderedObject;
    if (was?.digest === is?.digest || one.argo?.kind === "Application") continue;
    const isSet = was?.argo !== undefined && is?.argo !== undefined;
    if (isSet && (sets.has(`${one.namespace}/${one.name}`) || isSame(was, is))) continue;
    const does = was === undefined ? "adds" : is === undefined ? "removes" : "changes";
    const why = engineReason("PARENT_CHANGES", { plane: plane.name, parent: parent.name, object: nameObject(one), does });
    return { why, retry: false };
  }
  return undefined;
}

function isSame({ argo: was }: RenderedObject, { argo: is }: RenderedObject): boolean {
  const said = metadataDifference(was?.object["metadata"], is?.object["metadata"]);
  return said.length === 0 && specDifference(was?.object["spec"], is?.object["spec"]) === undefined;
}

export function nameObject({ kind, namespace, name }: RenderedObject): string {
  return `${kind.replace(/^.*\//, "")} ${namespace === "" ? "" : `${namespace}/`}${name}`;
}

/** Applications that are written out among them. */
export function applicationsIn(objects: RenderedObjects): RenderResult {
  const counts = Map.groupBy(
    [...objects.values()].filter(({ argo }) => argo?.kind === "Application"),
    ({ name }) => name,
  );
  const applications = [...objects.values()].flatMap(({ argo, name, namespace }): RenderedApplication[] => {
    if (argo?.kind !== "Application" || !isRecord(argo.object["spec"])) return [];
    const metadata = isRecord(argo.object["metadata"]) ? argo.object["metadata"] : {};
    // Two of one name in two namespaces must not be taken for each other.
    const shownAs = (counts.get(name)?.length ?? 0) > 1 ? `${namespace}/${name}` : name;
    return [
      { ...argo.object, metadata: { ...metadata, name: shownAs, namespace }, spec: argo.object["spec"] } as unknown as RenderedApplication,
    ];
  });
  return { ok: true, applications, generators: [], problems: [] };
}

/** The one of them that a target is: another of its name may stand in another namespace. */
export function placedAt({ applications }: RenderResult, key: string): RenderedApplication | undefined {
  const [, namespace = "", name = ""] = key.split("/");
  return applications.find(
    ({ metadata }) => [name, `${namespace}/${name}`].includes(metadata.name) && (metadata.namespace ?? namespace) === namespace,
  );
}
