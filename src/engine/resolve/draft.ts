import type { TemplateValues } from "../../core/base/template.ts";
import type { Cluster, Edit, Release } from "../../core/plan/plan-types.ts";
import type { SeenApplication } from "./targets-select.ts";

/** A target whose pins are being resolved. */
export interface Draft {
  seen: SeenApplication;
  cluster: Cluster;
  /** One a pin, in the order of the rollout; a hole where it could not be resolved. */
  edits: (Edit | undefined)[];
}

/** What templates of pins are filled in with for one target. */
export function valuesOf({ cluster, seen }: Draft, release: Release): TemplateValues {
  const application = { name: seen.view.name, namespace: seen.view.namespace };
  return { cluster, application, params: seen.params ?? {}, release: release.values };
}
