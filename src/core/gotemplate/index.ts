import type { Template } from "./ast.ts";
import { BUILTINS } from "./builtins.ts";
import type { MissingKey } from "./eval.ts";
import { execute } from "./exec.ts";
import type { FunctionTable } from "./functions.ts";
import { parseTemplate } from "./parser.ts";
import { REGEX_FUNCTIONS } from "./regex.ts";
import { DICT_FUNCTIONS } from "./sprig-dicts.ts";
import { ENCODING_FUNCTIONS } from "./sprig-encoding.ts";
import { LIST_FUNCTIONS } from "./sprig-lists.ts";
import { MATH_FUNCTIONS } from "./sprig-math.ts";
import { NAME_FUNCTIONS } from "./sprig-paths.ts";
import { TEXT_FUNCTIONS } from "./sprig-text.ts";
import { UNSUPPORTED } from "./unsupported.ts";
import type { GoValue } from "./value.ts";

export type { MissingKey } from "./eval.ts";
export { TemplateError, UnsupportedError } from "./value.ts";

const FUNCTIONS: FunctionTable = {
  ...TEXT_FUNCTIONS,
  ...LIST_FUNCTIONS,
  ...DICT_FUNCTIONS,
  ...MATH_FUNCTIONS,
  ...ENCODING_FUNCTIONS,
  ...REGEX_FUNCTIONS,
  ...NAME_FUNCTIONS,
  ...BUILTINS,
};

function isKnown(name: string): boolean {
  return Object.hasOwn(FUNCTIONS, name) || UNSUPPORTED.has(name);
}

/**
 * Compiles a Go template with the functions ApplicationSets have (text/template's, sprig's, Argo CD's own).
 * @throws TemplateError as Argo CD would fail; UnsupportedError where only this program would
 */
export function compileGoTemplate(source: string): (data: GoValue, missingKey: MissingKey) => string {
  const template: Template = parseTemplate(source, isKnown);
  return (data, missingKey) => execute(template, data, FUNCTIONS, missingKey);
}
