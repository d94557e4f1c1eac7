import type { Inventory } from "../../../core/argocd/inventory-file.ts";
import { sayProblem } from "../../../core/report/reasons/problems.ts";
import type { Checkout } from "../lint/lint-checkout.ts";
import { lint } from "../lint/lint-run.ts";

/** A checkout with one more file in it that is not on disk. */
export function withFile(checkout: Checkout, file: string, text: string): Checkout {
  return {
    root: checkout.root,
    read: (path) => (path === file ? text : checkout.read(path)),
    paths: () => (checkout.paths().includes(file) ? checkout.paths() : [...checkout.paths(), file].toSorted()),
  };
}

/** What `stagecoach lint` and `plan` would hold against a rollout file if it were there: errors only, a line each. */
export function whatLintSays(checkout: Checkout, inventory: Inventory | undefined): (file: string, text: string) => string[] {
  return (file, text) => {
    const { problems } = lint(withFile(checkout, file, text), [file], inventory);
    return problems.filter((problem) => problem.severity === "error").map((problem) => `${problem.code}: ${sayProblem(problem).message}`);
  };
}
