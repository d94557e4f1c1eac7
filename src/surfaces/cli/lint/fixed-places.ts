import { errorText } from "../../../core/base/error-text.ts";
import { plainFolder } from "../../../core/base/folder.ts";
import { parseTemplate } from "../../../core/base/template.ts";
import { type Path, type Problem, type ProblemReason, problemIn } from "../../../core/reasons/problems/problem.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { whyOutside } from "../../../core/spec/rules/files.ts";
import { faultOfSource } from "../../../engine/resolve/copies.ts";
import { locateIn, withNear } from "../../../engine/resolve/plan-over.ts";
import type { Checkout } from "./lint-checkout.ts";

/** Pin files without a template in their name can be looked for even where no Application is known. */
export function fixedPlaces(rollout: Rollout, checkout: Checkout, known: readonly Problem[]): Problem[] {
  if (known.some((problem) => problem.code.startsWith("PIN_FILE"))) return [];
  const problemAt = (reason: ProblemReason, path: Path) => locateIn(rollout, checkout, problemIn(rollout.file, reason, path));
  return rollout.pins.flatMap((pin, i): Problem[] => {
    if (pin.kind === "branch") return [];
    if (pin.kind === "copy") return fixedFolder(pin.from, ["spec", "pins", i, "copy", "from"], rollout, checkout, known);
    const parsed = parseTemplate(pin.file);
    if (!parsed.ok || parsed.parts.some((part) => "variable" in part)) return [];
    const path = ["spec", "pins", i, ...(pin.kind === "clusterGenerator" ? ["clusterGenerator"] : []), "file"];
    try {
      if (checkout.read(pin.file) !== null) return [];
      return [withNear(problemAt({ code: "PIN_FILE_MISSING", pinFile: pin.file }, path), checkout)];
    } catch (error) {
      const said = errorText(error);
      return [problemAt({ code: "PIN_FILE_UNREADABLE", pinFile: pin.file, said }, path)];
    }
  });
}

/** The same of a directory that is copied. */
function fixedFolder(from: string, path: Path, rollout: Rollout, checkout: Checkout, known: readonly Problem[]): Problem[] {
  const folder = plainFolder(from);
  if (folder.includes("{{") || whyOutside(folder) !== undefined || known.some(({ code }) => code === "COPY_FOLDER")) return [];
  const problem = faultOfSource(folder, (path) => checkout.read(path));
  if (problem === undefined) return [];
  return [withNear(locateIn(rollout, checkout, problemIn(rollout.file, { code: "COPY_FOLDER", ...problem }, path)), checkout)];
}
