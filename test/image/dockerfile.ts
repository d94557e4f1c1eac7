import { readFileSync } from "node:fs";

/** One instruction, with its continued lines joined and its comments taken out. */
export interface Instruction {
  /** In capitals. */
  name: string;
  text: string;
  /** Line in the file, from 1. */
  line: number;
}

/** The stages of a Dockerfile, in order. Knows what ours uses: no heredocs, no escape directive. */
export function readDockerfile(path: string | URL): { name: string; from: string; instructions: Instruction[] }[] {
  const stages: { name: string; from: string; instructions: Instruction[] }[] = [];
  for (const instruction of instructionsOf(readFileSync(path, "utf8"))) {
    const [, from = "", name = ""] = instruction.name === "FROM" ? (/^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(instruction.text) ?? []) : [];
    if (instruction.name === "FROM") stages.push({ name, from, instructions: [] });
    else stages.at(-1)?.instructions.push(instruction);
  }
  return stages;
}

function instructionsOf(text: string): Instruction[] {
  const found: Instruction[] = [];
  let open = "";
  let begun = 0;
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "" || line.trimStart().startsWith("#")) continue;
    if (open === "") begun = index + 1;
    open += line.replace(/\\$/, "");
    if (line.endsWith("\\")) continue;
    const [, name = "", rest = ""] = /^\s*(\w+)\s+([\s\S]*)$/.exec(open) ?? [];
    found.push({ name: name.toUpperCase(), text: rest.trim(), line: begun });
    open = "";
  }
  return found;
}

/** What a build may take, as a .dockerignore says it: the last line that matches wins. Knows `*`, `**` and `!`. */
export function dockerContext(ignore: string): (path: string) => boolean {
  const rules = ignore
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ({ takes: line.startsWith("!"), pattern: patternOf(line.replace(/^!/, "")) }));
  return (path) => {
    const prefixes = path.split("/").map((_, index, parts) => parts.slice(0, index + 1).join("/"));
    let taken = true;
    for (const { takes, pattern } of rules) if (prefixes.some((prefix) => pattern.test(prefix))) taken = takes;
    return taken;
  };
}

function patternOf(glob: string): RegExp {
  const body = glob
    .split(/(\*\*\/|\*)/)
    .map((part) => (part === "**/" ? "(?:.*/)?" : part === "*" ? "[^/]*" : part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")))
    .join("");
  return new RegExp(`^${body}$`);
}
