import { type AliasNode, position, type ScalarNode } from "../base/yaml-scan/model.ts";
import { scalarText } from "../base/yaml-scan/scalar.ts";
import { layoutOf, type Op } from "./create.ts";
import { encodeLike, encodePlain, quoteOf, readsBack } from "./encode.ts";
import { openPinFile, type PinFile, type PinOptions, readDocuments } from "./file.ts";
import { describe, insideOf, outwardFound } from "./find.ts";
import { collectHole, collectOver, type HoleJob, type HoleWork, inFlow, writeHoles } from "./holes.ts";
import { locate, openInside, outward, type Query, readQuery, type Spot } from "./locate.ts";
import { overrideOf } from "./override.ts";
import { writePart } from "./part.ts";
import { sharedBy } from "./shared.ts";
import { type Found, type PinError, pinError, type Refused, type SpliceEdit } from "./types.ts";
import { differsElsewhere } from "./verify.ts";

type RefusedEdit = Refused & { edit: number };
type SpliceResult = { ok: true; text: string; found: Found[] } | RefusedEdit;

/** An edit with its path read, and its index in what the caller gave. */
interface Job extends HoleJob {
  query: Query;
}

/** `alias`: it is written in its place, and the anchor stays as it is. */
interface Written {
  text: string;
  edit: number;
  parts: readonly string[];
  node: ScalarNode;
  /** It stands in brackets. */
  flow: boolean;
  alias: AliasNode | undefined;
}

interface Work extends HoleWork {
  found: Map<number, Found>;
  /** By scalar, or the alias of one: its text so far, and the edit that set it last. */
  values: Map<ScalarNode | AliasNode, Written>;
  insides: Map<ScalarNode, { jobs: Job[]; spot: Spot & { kind: "inside" } }>;
}

/**
 * Sets all pins at once; every byte outside their values stays. `found` says what stood where before, in the order of the edits.
 * The result was read again and differs from the file in exactly these values.
 *
 * Errors, with the index of the edit: those of `findPin`; PIN_SHARED_ANCHOR where somebody else has the value too (with who and where);
 * PIN_AMBIGUOUS where two edits set one pin to different values; PIN_VERIFY where the result would differ in more than the edits.
 */
export function splice(text: string, edits: readonly SpliceEdit[], options: PinOptions = {}): SpliceResult {
  const jobs = jobsOf(edits);
  const opened = openPinFile(text, options);
  if (!opened.ok) return jobs.find(isRefused) ?? { ...opened, edit: 0 };
  const done = spliceFile(opened.file, jobs);
  if (!done.ok) return done;
  return { ok: true, text: done.text, found: edits.flatMap((_, edit) => done.found.get(edit) ?? []) };
}

/** One at a time: the paths of thousands, read, take more memory than the file. */
function* jobsOf(edits: readonly SpliceEdit[]): Generator<Job | RefusedEdit> {
  for (const [edit, { path, create, part, value }] of edits.entries()) {
    const read = readQuery(path, create);
    yield read.ok ? { edit, query: read.query, part, value } : { ...read, edit };
  }
}

function isRefused(job: Job | RefusedEdit): job is RefusedEdit {
  return "ok" in job;
}

function spliceFile(
  file: PinFile,
  jobs: Iterable<Job | RefusedEdit>,
): { ok: true; text: string; ops: Op[]; found: Map<number, Found> } | RefusedEdit {
  const layout = layoutOf(file.text, { json: file.json, flow: false, quote: quoteOf(file.text) });
  const work: Work = {
    file,
    layout,
    ops: [],
    expects: new Map(),
    found: new Map(),
    values: new Map(),
    holes: new Map(),
    insides: new Map(),
  };
  let first: number | undefined;
  for (const job of jobs) {
    if (isRefused(job)) return job;
    first ??= job.edit;
    const error = collect(work, job);
    if (error !== undefined) return { ok: false, error, edit: job.edit };
  }
  const failed = writeValues(work);
  writeHoles(work, work.holes);
  const refused = failed ?? writeInsides(work);
  if (refused !== undefined) return refused;
  work.ops.sort((a, b) => a.start - b.start || a.end - b.end);
  const text = apply(file.text, work.ops);
  const wrong = text === file.text ? undefined : verify(work, text);
  if (wrong !== undefined) return { ok: false, error: wrong, edit: blame(work, first) };
  return { ok: true, text, ops: work.ops, found: work.found };
}

/** Puts a job with the others of its place. */
function collect(work: Work, job: Job): PinError | undefined {
  const located = locate(work.file, job.query);
  if (!located.ok) return located.error;
  const { spot } = located;
  const shared = sharedBy(work.file, spot.reached, spot.kind === "hole" ? spot.at : spot.node);
  if (spot.kind === "inside") {
    if (shared !== undefined) return shared;
    const group = work.insides.get(spot.node) ?? { jobs: [], spot };
    work.insides.set(spot.node, group);
    group.jobs.push({ ...job, query: insideOf(job.query, spot) });
    return undefined;
  }
  const seen = describe(work.file.text, spot, job.query, job.part);
  if (!seen.ok) return seen.error;
  work.found.set(job.edit, seen.found);
  const alias = job.query.create && spot.kind === "value" ? spot.reached.alias : undefined;
  if (spot.kind === "hole") return shared ?? collectHole(work, job, spot);
  const over = shared !== undefined && job.query.create && alias === undefined ? overrideOf(work.file, spot.reached) : undefined;
  if (over?.ok === true) return collectOver(work, job, spot, over.override);
  if (shared !== undefined && (alias === undefined || !("writable" in shared))) return shared;
  return collectValue(work, job, spot, alias);
}

/** `alias`: what the value is written out in the place of. */
function collectValue(work: Work, job: Job, spot: Spot & { kind: "value" }, alias?: AliasNode): PinError | undefined {
  const { text } = work.file;
  const part = job.part ?? "";
  const place = alias ?? spot.node;
  const group = work.values.get(place) ?? {
    ...{ text: scalarText(text, spot.node), edit: job.edit, parts: [] },
    ...{ node: spot.node, flow: inFlow(spot.reached.chain), alias },
  };
  const next = job.part === undefined ? { ok: true as const, value: job.value } : writePart(group.text, job.part, job.value);
  if (!next.ok) return { ...next.error, ...position(text, spot.node.start) };
  const clash = group.parts.length > 0 && (group.parts.includes(part) || part === "" || group.parts.includes(""));
  if (clash && next.value !== group.text) return pinError("PIN_AMBIGUOUS", { kind: "TwoValues" }, text, spot.node.start);
  work.values.set(place, { ...group, text: next.value, edit: job.edit, parts: [...group.parts, part] });
  return undefined;
}

function writeValues(work: Work): RefusedEdit | undefined {
  const { text } = work.file;
  for (const { text: value, edit, node, flow, alias } of work.values.values()) {
    const old = scalarText(text, node);
    if (alias !== undefined && value === old) continue;
    const block = node.style === "literal" || node.style === "folded";
    if (value === old || (block && `${value}\n` === old)) continue;
    const context = { ...work.layout, flow };
    const source = alias !== undefined && block ? encodePlain(value, context, undefined) : encodeLike(text, node, old, value, context);
    const sound = source !== undefined && (block || work.file.json || node.tag !== undefined || readsBack(source, value, flow));
    if (!sound) return { ok: false, edit, error: pinError("PIN_VERIFY", { kind: "Style", style: node.style }, text, node.start) };
    if (alias !== undefined) {
      work.ops.push({ start: alias.start, end: alias.end, text: source });
      work.expects.set(alias, { kind: "text", text: value });
      continue;
    }
    // The line break at a block scalar's end stays where it is, so that no edit reaches into the line below.
    const tail = block && text[node.end - 1] === "\n" && source.endsWith("\n") ? 1 : 0;
    work.ops.push({ start: node.start, end: node.end - tail, text: source.slice(0, source.length - tail) });
    work.expects.set(node, { kind: block ? "block" : "text", text: value });
  }
  return undefined;
}

function writeInsides(work: Work): RefusedEdit | undefined {
  const { text } = work.file;
  for (const [node, { jobs, spot }] of work.insides) {
    const opened = openInside(spot);
    const done = opened.ok ? spliceFile(opened.file, jobs) : { ...opened, edit: jobs[0]?.edit ?? 0 };
    if (!done.ok) return { ...done, error: outward(text, spot.inner, done.error) };
    for (const [at, found] of done.found) work.found.set(at, outwardFound(text, spot, found));
    if (done.ops.length === 0) continue;
    const { outer, indent } = spot.inner;
    for (const op of done.ops) work.ops.push({ start: outer(op.start), end: outer(op.end), text: indent(op.text) });
    work.expects.set(node, { kind: "block", text: done.text });
  }
  return undefined;
}

export function apply(text: string, ops: readonly Op[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const op of ops) {
    pieces.push(text.slice(at, op.start), op.text);
    at = op.end;
  }
  pieces.push(text.slice(at));
  return pieces.join("");
}

function verify({ file, holes, ops, expects }: Work, text: string): PinError | undefined {
  const reading = readDocuments(text, file.json ? "json" : "yaml");
  if (!reading.ok) {
    const { line, column, ...because } = reading.error;
    return { code: "PIN_VERIFY", kind: "Unread", because, line, column };
  }
  const root = holes.get("file")?.tree;
  const after = { text, documents: reading.documents };
  const offset = differsElsewhere(
    file,
    after,
    ops,
    expects,
    typeof root === "string" || (root !== undefined && "own" in root) ? undefined : root,
  );
  return offset === undefined ? undefined : pinError("PIN_VERIFY", { kind: "Values" }, file.text, offset);
}

function blame(work: Work, first = 0): number {
  const groups = [...work.values.values(), ...work.holes.values()];
  return groups[0]?.edit ?? first;
}
