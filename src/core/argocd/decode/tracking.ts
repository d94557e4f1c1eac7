import { defined } from "../../base/defined.ts";
import { child, type Fields, word } from "./lenient.ts";

/** The Application that applies an object, as Argo CD notes it there. */
export interface AppliedBy {
  name: string;
  /** Absent: Argo CD's own. */
  namespace?: string;
}

const TRACKING_ID = "argocd.argoproj.io/tracking-id";
/** Where Argo CD tracks by label, or by both: its default, and what its docs name for those whose charts write that one themselves. */
const INSTANCE_LABELS = ["argocd.argoproj.io/instance", "app.kubernetes.io/instance"];

/**
 * Reads who applies an object of Argo's from its `metadata`: by the tracking annotation, else by an instance label. An annotation that was
 * copied from another object names that one, and says nothing of this.
 */
export function appliedBy(metadata: Fields, kind: "Application" | "ApplicationSet"): AppliedBy | undefined {
  const id = word(child(metadata, "annotations"), TRACKING_ID);
  const labels = child(metadata, "labels");
  if (id === undefined) return instance(INSTANCE_LABELS.map((key) => word(labels, key)).find((name) => name !== undefined));
  const [owner = "", ...rest] = id.split(":");
  const own = `argoproj.io/${kind}:${word(metadata, "namespace") ?? ""}/${word(metadata, "name") ?? ""}`;
  return rest.join(":") === own ? instance(owner) : undefined;
}

/** `NAME`, or `NAMESPACE_NAME` of one that is not in Argo CD's namespace: no name of Kubernetes has an underscore. */
function instance(text: string | undefined): AppliedBy | undefined {
  const [, namespace, name] = /^(?:([a-z0-9.-]{1,253})_)?([a-z0-9][a-z0-9.-]{0,252})$/.exec(text ?? "") ?? [];
  return name === undefined ? undefined : defined({ name, namespace });
}
