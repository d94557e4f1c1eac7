/**
 * Compiles and executes the Go templates of ApplicationSets, with the functions they have: text/template's, sprig's, and Argo CD's own.
 */
import { type Budget, spend, spendOnText } from "./budget.ts";
import { BUILTINS } from "./builtins.ts";
import { bind, evalPipe, type MissingKey, type State } from "./eval.ts";
import type { FunctionTable } from "./functions.ts";
import { type Node, type Pipe, parseTemplate } from "./parser.ts";
import { COLLECTION_FUNCTIONS } from "./sprig-collections.ts";
import { ENCODING_FUNCTIONS } from "./sprig-encoding.ts";
import { MATH_FUNCTIONS } from "./sprig-math.ts";
import { NAME_FUNCTIONS } from "./sprig-names.ts";
import { REGEX_FUNCTIONS } from "./sprig-regex.ts";
import { TEXT_FUNCTIONS } from "./sprig-text.ts";
import { UNSUPPORTED } from "./unsupported.ts";
import { entry, fails, GoInt, type GoValue, isMap, printValue, sortedKeys, truth } from "./value.ts";

export type { MissingKey } from "./eval.ts";
export { TemplateError } from "./value.ts";

const FUNCTIONS: FunctionTable = {
  ...TEXT_FUNCTIONS,
  ...REGEX_FUNCTIONS,
  ...COLLECTION_FUNCTIONS,
  ...MATH_FUNCTIONS,
  ...ENCODING_FUNCTIONS,
  ...NAME_FUNCTIONS,
  ...BUILTINS,
};

/** Set when a `break` or `continue` is on its way to its loop. */
type Flow = "break" | "continue" | undefined;

/** What Argo CD's goroutine stack would stand, and then some. */
const DEEPEST = 1000;

/** Compiles a template. @throws TemplateError, as executing it does */
export function compileGoTemplate(source: string): (data: GoValue, missingKey: MissingKey) => string {
  const { body, named } = parseTemplate(source, (name) => Object.hasOwn(FUNCTIONS, name) || UNSUPPORTED.has(name));
  return (data, missingKey) => {
    const variables = [{ name: "$", value: data }];
    const state: State = { functions: FUNCTIONS, missingKey, named, variables, output: "", depth: 0, steps: 0 };
    walk(state, body, data);
    return state.output;
  };
}

function walk(state: State, nodes: readonly Node[], dot: GoValue): Flow {
  for (const node of nodes) {
    spend(state, 1);
    const flow = step(state, node, dot);
    if (flow !== undefined) return flow;
  }
  return undefined;
}

function step(state: State, node: Node, dot: GoValue): Flow {
  switch (node.type) {
    case "text":
      spendOnText(state, node.text.length);
      state.output += node.text;
      return undefined;
    case "action": {
      const value = evalPipe(state, node.pipe, dot);
      if (node.pipe.variables.length === 0) state.output += printValue(value);
      return undefined;
    }
    case "if":
    case "with":
      return walkBranch(state, node, dot);
    case "range":
      return walkRange(state, node, dot);
    case "template":
      walkTemplate(state, node.name, node.pipe, dot);
      return undefined;
    default:
      return node.type;
  }
}

type Control = Extract<Node, { otherwise: Node[] }>;

function walkBranch(state: State, node: Control, dot: GoValue): Flow {
  const mark = state.variables.length;
  const value = evalPipe(state, node.pipe, dot);
  const taken = truth(value);
  const flow = walk(state, taken ? node.body : node.otherwise, taken && node.type === "with" ? value : dot);
  state.variables.length = mark;
  return flow;
}

function walkRange(state: State, node: Control, dot: GoValue): Flow {
  const mark = state.variables.length;
  const over = evalPipe(state, node.pipe, dot, false);
  const inner = state.variables.length;
  if (over instanceof GoInt && node.pipe.variables.length > 1) throw fails("GO_TWO_VARIABLES", { over: over.value });
  const items = iterate(state, over);
  const flow = items.length === 0 ? walk(state, node.otherwise, dot) : undefined;
  for (const [key, value] of items) {
    bindRange(state, node.pipe, key, value);
    const ended = walk(state, node.body, value);
    state.variables.length = inner;
    if (ended === "break") break;
  }
  state.variables.length = mark;
  return flow;
}

function iterate(budget: Budget, over: GoValue): [GoValue, GoValue][] {
  if (over === undefined || over === null) return [];
  if (Array.isArray(over)) return over.map((value, index) => [new GoInt(index), value]);
  if (over instanceof GoInt) spend(budget, Math.max(0, over.value));
  if (over instanceof GoInt) return Array.from({ length: Math.max(0, over.value) }, (_, index) => [new GoInt(index), new GoInt(index)]);
  if (isMap(over)) return sortedKeys(over).map((key) => [key, entry(over, key)]);
  throw fails("GO_NO_RANGE", { over: printValue(over) });
}

function bindRange(state: State, pipe: Pipe, key: GoValue, value: GoValue): void {
  const [first, second] = pipe.variables;
  if (first !== undefined) bind(state, pipe, first, second === undefined ? value : key);
  if (second !== undefined) bind(state, pipe, second, value);
}

function walkTemplate(state: State, name: string, pipe: Pipe | undefined, dot: GoValue): void {
  const body = state.named.get(name);
  if (body === undefined) throw fails("GO_UNKNOWN_TEMPLATE", { name });
  if (state.depth >= DEEPEST) throw fails("GO_RECURSION", { name });
  const data = pipe === undefined ? undefined : evalPipe(state, pipe, dot);
  const outer = state.variables;
  state.variables = [{ name: "$", value: data }];
  state.depth++;
  walk(state, body, data);
  state.depth--;
  state.variables = outer;
}
