import type { Node, Pipe, Template } from "./ast.ts";
import { assign, evalPipe, type MissingKey, type State } from "./eval.ts";
import type { FunctionTable } from "./functions.ts";
import { entry, GoInt, type GoValue, isMap, printed, sortedKeys, TemplateError, truth } from "./value.ts";

/** Set when a `break` or `continue` is on its way to its loop. */
type Flow = "break" | "continue" | undefined;

/** What Argo CD's goroutine stack would stand, and then some. */
const DEEPEST = 1000;
/** A template that runs longer than this is taken for one that never ends. */
const MOST_STEPS = 5_000_000;

/** Executes a template on data. @throws TemplateError, UnsupportedError */
export function execute(template: Template, data: GoValue, functions: FunctionTable, missingKey: MissingKey): string {
  const state: State = {
    functions,
    missingKey,
    named: template.named,
    variables: [{ name: "$", value: data }],
    output: "",
    depth: 0,
    steps: 0,
  };
  walk(state, template.body, data);
  return state.output;
}

function walk(state: State, nodes: readonly Node[], dot: GoValue): Flow {
  for (const node of nodes) {
    if (++state.steps > MOST_STEPS) throw new TemplateError("the template does not end");
    const flow = step(state, node, dot);
    if (flow !== undefined) return flow;
  }
  return undefined;
}

function step(state: State, node: Node, dot: GoValue): Flow {
  switch (node.type) {
    case "text":
      state.output += node.text;
      return undefined;
    case "action": {
      const value = evalPipe(state, node.pipe, dot);
      if (node.pipe.variables.length === 0) state.output += printed(value);
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

function walkBranch(state: State, node: Extract<Node, { type: "if" | "with" }>, dot: GoValue): Flow {
  const mark = state.variables.length;
  const value = evalPipe(state, node.pipe, dot);
  const taken = truth(value);
  const flow = walk(state, taken ? node.body : node.otherwise, taken && node.type === "with" ? value : dot);
  state.variables.length = mark;
  return flow;
}

function walkRange(state: State, node: Extract<Node, { type: "range" }>, dot: GoValue): Flow {
  const mark = state.variables.length;
  const over = evalPipe(state, node.pipe, dot, false);
  if (over instanceof GoInt && node.pipe.variables.length > 1)
    throw new TemplateError(`can't use ${over.value} to iterate over more than one variable`);
  const items = iterate(over);
  if (items.length === 0) {
    const flow = walk(state, node.otherwise, dot);
    state.variables.length = mark;
    return flow;
  }
  for (const [key, value] of items) {
    bindRange(state, node.pipe, key, value);
    const inner = state.variables.length;
    const flow = walk(state, node.body, value);
    state.variables.length = node.pipe.assigns ? inner : mark;
    if (flow === "break") break;
  }
  state.variables.length = mark;
  return undefined;
}

function iterate(over: GoValue): [GoValue, GoValue][] {
  if (over === undefined || over === null) return [];
  if (Array.isArray(over)) return over.map((value, index) => [new GoInt(index), value]);
  if (over instanceof GoInt) return Array.from({ length: Math.max(0, over.value) }, (_, index) => [new GoInt(index), new GoInt(index)]);
  if (isMap(over)) return sortedKeys(over).map((key) => [key, entry(over, key)]);
  throw new TemplateError(`range can't iterate over ${printed(over)}`);
}

function bindRange(state: State, pipe: Pipe, key: GoValue, value: GoValue): void {
  const [first, second] = pipe.variables;
  if (first === undefined) return;
  const pairs: [string, GoValue][] =
    second === undefined
      ? [[first, value]]
      : [
          [first, key],
          [second, value],
        ];
  for (const [name, bound] of pairs) {
    if (pipe.assigns) assign(state, name, bound);
    else state.variables.push({ name, value: bound });
  }
}

function walkTemplate(state: State, name: string, pipe: Pipe | undefined, dot: GoValue): void {
  const body = state.named.get(name);
  if (body === undefined) throw new TemplateError(`template ${JSON.stringify(name)} not defined`);
  if (state.depth >= DEEPEST) throw new TemplateError(`template ${JSON.stringify(name)} calls itself without end`);
  const data = pipe === undefined ? undefined : evalPipe(state, pipe, dot);
  const outer = state.variables;
  state.variables = [{ name: "$", value: data }];
  state.depth++;
  walk(state, body, data);
  state.depth--;
  state.variables = outer;
}
