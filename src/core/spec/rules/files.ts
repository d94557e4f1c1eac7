/** Which files of the repo a rollout may name, and which of them a batch may change. */
import { CODEOWNERS } from "../../base/codeowners.ts";
import type { Finding, Path } from "../../reasons/problems/problem.ts";
import type { OutsideFault } from "../../reasons/problems/rules.ts";

/** A file of the repo: relative, and not out of it. Templates are checked again once filled in. */
export function checkFile(file: string, path: Path, written?: Written): Finding[] {
  const fault = whyOutside(file, written);
  return fault === undefined ? [] : [{ code: "FILE_OUTSIDE_REPO", given: file, fault, ofPin: false, path }];
}

/** What a batch does to a file: a directory is replaced as a whole, or one value is written, at its path where that is known. */
export type Written = "replaced" | { path?: string | undefined };

/** Says why a path names no file of the repo that may be read or, with `written`, changed. Undefined where it does. */
export function whyOutside(file: string, written?: Written): OutsideFault | undefined {
  if (file === "") return "Empty";
  if (file.startsWith("/") || /^[A-Za-z]:/.test(file)) return "Absolute";
  if (file.includes("\\")) return "Backslash";
  if (file.includes("\0")) return "Nul";
  const steps = file.split("/");
  if (steps.includes("..")) return "Dots";
  if (steps[0] === ".git") return "Git";
  if (steps.some((step) => step === "" || step === ".")) return "Steps";
  if (written === undefined) return undefined;
  if (written === "replaced") return holdsRules(file.toLowerCase()) ? "Rules" : undefined;
  return isRulesFile(file, written.path) ? "RulesFile" : undefined;
}

/** Whoever is asked may be written there after the copy was planned: such a directory is never replaced, whatever is in it now. */
function holdsRules(folder: string): boolean {
  return /^(\.github|rollouts)(\/|$)/.test(folder) || CODEOWNERS.some((place) => place.toLowerCase().startsWith(`${folder}/`));
}

/** What says how batches run, or who has to be asked: only people change that. What a rollout releases is a version as any other. */
function isRulesFile(file: string, path?: string): boolean {
  if (/^\.github\//i.test(file) || CODEOWNERS.some((place) => place.toLowerCase() === file.toLowerCase())) return true;
  return /^rollouts\//i.test(file) && !/^(#\d+\/)?spec\.release\./.test(path ?? "");
}
