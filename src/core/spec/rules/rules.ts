/** Checks one resource beyond its schema: names, stages, selectors and its source; `pace.ts` and `pins.ts` check the rest. */
import { defined } from "../../base/defined.ts";
import { nearest } from "../../base/nearest.ts";
import { show } from "../../base/problem.ts";
import { formatSelector } from "../../base/selector.ts";
import type { Finding } from "../../reasons/problems/problem.ts";
import { chosenBy } from "../parse/rollout.ts";
import type { Resource } from "../schema.ts";
import { checkFile } from "./files.ts";
import { analysesAndHooks, checkLimits, checkSteps, checkWindows, paceIsMeant } from "./pace.ts";
import { checkDelivery, checkPins, checkRelease } from "./pins.ts";
import { checkSelector } from "./selectors.ts";

/** Branch names and folders of the journal are made of it. */
const NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

function nameIsUsable({ metadata }: Resource): Finding[] {
  if (NAME.test(metadata.name)) return [];
  return [{ code: "BAD_NAME", given: metadata.name, path: ["metadata", "name"] }];
}

function stageNamesAreUnique({ spec }: Resource): Finding[] {
  const first = new Map<string, number>();
  const findings: Finding[] = [];
  for (const [i, { name }] of spec.stages.entries()) {
    const before = first.get(name);
    if (before === undefined) first.set(name, i);
    else findings.push({ code: "DUPLICATE_STAGE", stage: name, first: before + 1, path: ["spec", "stages", i, "name"] });
  }
  return findings;
}

function selectorsCanMatch({ spec }: Resource): Finding[] {
  const stages = spec.stages.flatMap((stage, i) => [
    ...checkSelector(chosenBy(stage).selector, ["spec", "stages", i, "clusters", "selector"]),
    ...checkSelector(stage.requeue?.selector, ["spec", "stages", i, "requeue", "selector"]),
  ]);
  return [...checkSelector(spec.quarantine?.selector, ["spec", "quarantine", "selector"]), ...stages];
}

/** `clusters` and `targets` are one thing by two words: one of them, and not both. */
function stagesChooseOnce({ spec }: Resource): Finding[] {
  return spec.stages.flatMap(({ clusters, targets }, i): Finding[] => {
    const path = ["spec", "stages", i];
    if (clusters !== undefined && targets !== undefined)
      return [{ code: "SAME_KEY_TWICE", ours: "clusters", theirs: "targets", path: [...path, "targets"], atKey: true }];
    return clusters === undefined && targets === undefined ? [{ code: "MISSING_KEY", kind: "Clusters", stage: i, path }] : [];
  });
}

/** A stage that takes all of its clusters leaves none to a later one with the same selector. */
function laterStagesGetClusters({ spec }: Resource): Finding[] {
  const takenBy = new Map<string, string>();
  const findings: Finding[] = [];
  for (const [i, stage] of spec.stages.entries()) {
    const text = formatSelector(chosenBy(stage).selector);
    const taker = takenBy.get("every cluster") ?? takenBy.get(text);
    if (taker !== undefined) {
      const data = { stage: stage.name, taker, selector: text };
      findings.push({ code: "STAGE_SHADOWED", ...data, severity: "warning", path: ["spec", "stages", i, "clusters", "selector"] });
    } else if (stage.maxClusters === "100%") takenBy.set(text, stage.name);
  }
  return findings;
}

function ordersAreComplete({ spec }: Resource): Finding[] {
  return spec.stages.flatMap((stage, i): Finding[] => {
    const path = ["spec", "stages", i, "order"];
    if (stage.order.by === "label" && stage.order.key === undefined) return [{ code: "ORDER_KEY", kind: "Missing", path }];
    if (stage.order.by === "name" && stage.order.key !== undefined)
      return [{ code: "ORDER_KEY", kind: "Needless", path: [...path, "key"] }];
    return [];
  });
}

function oneTopologyKey({ spec }: Resource): Finding[] {
  return spec.stages.flatMap((stage, i): Finding[] => {
    const inner = chosenBy(stage).topologyKey;
    if (inner === undefined || stage.topologyKey === undefined || inner === stage.topologyKey) return [];
    return [{ code: "TOPOLOGY_KEY", outer: stage.topologyKey, inner, path: ["spec", "stages", i, "clusters", "topologyKey"] }];
  });
}

function sourceIsNamed({ spec }: Resource): Finding[] {
  const { kind, name, names, selector, apiGroup } = spec.sourceRef;
  const path = ["spec", "sourceRef"];
  const findings: Finding[] = [];
  const said = defined({ name, names, selector });
  const [first, second] = Object.keys(said);
  if (kind === "ApplicationSet" && first === undefined) findings.push({ code: "SOURCE_REF", kind: "NoName", path });
  if (kind === "ApplicationSet" && first !== undefined && second !== undefined)
    findings.push({ code: "SOURCE_REF", kind: "SaidTwice", first, second, path: [...path, second], atKey: true });
  if (kind === "Application" && names !== undefined)
    findings.push({ code: "SOURCE_REF", kind: "NamesOfApplications", path: [...path, "names"], atKey: true });
  if (kind === "Application" && name === undefined && selector === undefined)
    findings.push({ code: "SOURCE_REF", kind: "NoSelector", path });
  findings.push(...checkSelector(selector, [...path, "selector"]));
  if (apiGroup.split("/")[0] !== "argoproj.io")
    findings.push({ code: "SOURCE_REF", kind: "Group", given: apiGroup, path: [...path, "apiGroup"] });
  return findings;
}

function inventoryIsMeant({ spec: { inventory, sourceRef } }: Resource): Finding[] {
  if (inventory === undefined) return [];
  const path = ["spec", "inventory"];
  const { file, files } = inventory;
  if (file === undefined && files === undefined) return [{ code: "INVENTORY_FILES", kind: "Neither", path }];
  if (file !== undefined && files !== undefined) return [{ code: "INVENTORY_FILES", kind: "Both", path: [...path, "files"], atKey: true }];
  const known = [sourceRef.controlPlane ?? []].flat();
  const strange = Object.keys(files ?? {}).filter((plane) => known.length > 0 && !known.includes(plane));
  return [
    ...(file === undefined ? [] : checkFile(file, [...path, "file"])),
    ...Object.entries(files ?? {}).flatMap(([plane, own]) => checkFile(own, [...path, "files", plane])),
    ...strange.map((plane): Finding => {
      const data = { kind: "Plane", plane: show(plane), known, near: nearest(plane, known) } as const;
      return { code: "INVENTORY_FILES", ...data, path: [...path, "files", plane], atKey: true };
    }),
  ];
}

/** Stages that windows and limits are for: what is misspelled binds nothing. */
function namedStagesAreThere({ spec: { windows = [], limits, stages } }: Resource): Finding[] {
  const known = stages.map(({ name }) => name);
  const scopes = [
    ...windows.map((one, i) => ({ stages: one.stages, path: ["spec", "windows", i, "stages"] })),
    ...(limits?.selected ?? []).map((one, i) => ({ stages: one.stages, path: ["spec", "limits", "selected", i, "stages"] })),
  ];
  return scopes.flatMap(({ stages: named = [], path }) =>
    named.flatMap((name, i): Finding[] => {
      const data = { name, known: known.slice(0, 10), near: nearest(name, known), own: true } as const;
      return known.includes(name) ? [] : [{ code: "UNKNOWN_STAGE", ...data, path: [...path, i] }];
    }),
  );
}

/** Cross-field checks of one resource, each of which reports all it finds; what several or the repo must agree on is looked at by lint. */
const RULES: readonly ((resource: Resource) => Finding[])[] = [
  nameIsUsable,
  stageNamesAreUnique,
  stagesChooseOnce,
  selectorsCanMatch,
  laterStagesGetClusters,
  ordersAreComplete,
  ({ spec }) => checkWindows(spec.windows ?? [], ["spec", "windows"]),
  ({ spec }) => spec.stages.flatMap(({ windows = [] }, i) => checkWindows(windows, ["spec", "stages", i, "windows"])),
  ({ spec }) => checkLimits(spec.limits, ["spec", "limits"]),
  namedStagesAreThere,
  paceIsMeant,
  analysesAndHooks,
  oneTopologyKey,
  sourceIsNamed,
  ({ spec }) => (spec.release === undefined ? [] : checkRelease(spec.release, ["spec", "release"])),
  ({ spec }) => checkPins(spec.pins ?? [], spec.release, spec.delivery.strategy, ["spec", "pins"]),
  inventoryIsMeant,
  ({ spec }) => checkDelivery(spec.delivery, spec.release, ["spec", "delivery"]),
  checkSteps,
];

export function checkResource(resource: Resource): Finding[] {
  return RULES.flatMap((rule) => rule(resource));
}
