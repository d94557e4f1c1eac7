import { functions } from "./functions.ts";
import { type Node, PREDICATES } from "./nodes.ts";
import { parseExpression } from "./parse.ts";
import { ExpressionError } from "./tokens.ts";

/** Why a condition cannot be used, whatever is measured; undefined: it can be read and knows every name. */
export function badCondition(condition: string): string | undefined {
  try {
    checkNames(parseExpression(condition), false);
    return undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}

/** Walks every branch, also those that no value has reached yet. */
function checkNames(node: Node, inPredicate: boolean): void {
  switch (node.kind) {
    case "name":
      if (node.name !== "result" && !inPredicate)
        throw new ExpressionError(`${node.name} is unknown; what was measured is called result`, node.at);
      return;
    case "item":
      if (!inPredicate) throw new ExpressionError("# is only known in a predicate", node.at);
      return;
    case "binary":
      if (node.op === "matches")
        throw new ExpressionError("`matches` is not available in the builtin engine; the argo-rollouts engine has it", node.at);
      break;
    case "call":
      if (!PREDICATES.has(node.name) && !Object.hasOwn(functions, node.name)) throw unknownFunction(node.name, node.at);
      for (const [i, arg] of node.args.entries()) checkNames(arg, inPredicate || (i > 0 && PREDICATES.has(node.name)));
      return;
  }
  for (const child of children(node)) checkNames(child, inPredicate);
}

function children(node: Node): Node[] {
  switch (node.kind) {
    case "list":
      return node.items;
    case "map":
      return node.pairs.flat();
    case "member":
      return [node.of, node.key];
    case "slice":
      return [node.of, node.from, node.to].filter((n) => n !== undefined);
    case "unary":
    case "chain":
      return [node.of];
    case "binary":
      return [node.left, node.right];
    case "choice":
      return [node.test, node.yes, node.no];
    default:
      return [];
  }
}

/** What is said of a function that there is not. */
export function unknownFunction(name: string, at: number): ExpressionError {
  const all = [...Object.keys(functions), ...PREDICATES].sort().join(", ");
  return new ExpressionError(`${name}() is not available in the builtin engine, which has ${all}`, at);
}
