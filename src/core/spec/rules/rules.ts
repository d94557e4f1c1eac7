import type { Finding } from "../../base/problem.ts";
import { formatSelector } from "../../base/selector.ts";
import type { Resource } from "../schema.ts";
import { analysesAndHooks } from "./analysis.ts";
import { paceIsMeant } from "./pace.ts";
import { checkFile, checkPins, checkRelease } from "./pins.ts";
import { checkDelivery } from "./release.ts";
import { checkSelector } from "./selector.ts";
import { checkSteps } from "./steps.ts";
import { checkWindows } from "./windows.ts";

/** One cross-field check. It reports everything it finds; a rule never stops another. */
export type Rule = (resource: Resource) => Finding[];

/** Branch names and folders of the journal are made of it. */
const NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

function nameIsUsable({ metadata }: Resource): Finding[] {
  if (NAME.test(metadata.name)) return [];
  return [
    {
      code: "BAD_NAME",
      message: `"${metadata.name}" cannot be the name of a rollout`,
      hint: "lower-case letters, digits and -, as names in Kubernetes",
      path: ["metadata", "name"],
    },
  ];
}

function stageNamesAreUnique({ spec }: Resource): Finding[] {
  const first = new Map<string, number>();
  const findings: Finding[] = [];
  for (const [i, { name }] of spec.stages.entries()) {
    const before = first.get(name);
    if (before === undefined) first.set(name, i);
    else
      findings.push({
        code: "DUPLICATE_STAGE",
        message: `stage "${name}" is there twice: it is stage ${before + 1} already`,
        hint: "give each stage a name of its own",
        path: ["spec", "stages", i, "name"],
      });
  }
  return findings;
}

function selectorsCanMatch({ spec }: Resource): Finding[] {
  const { quarantine } = spec;
  const stopped = quarantine?.selector === undefined ? [] : checkSelector(quarantine.selector, ["spec", "quarantine", "selector"]);
  const stages = spec.stages.flatMap((stage, i) => [
    ...checkSelector(stage.clusters.selector, ["spec", "stages", i, "clusters", "selector"]),
    ...(stage.requeue === undefined ? [] : checkSelector(stage.requeue.selector, ["spec", "stages", i, "requeue", "selector"])),
  ]);
  return [...stopped, ...stages];
}

/** A stage that takes all of its clusters leaves none to a later one with the same selector. */
function laterStagesGetClusters({ spec }: Resource): Finding[] {
  const takenBy = new Map<string, string>();
  const findings: Finding[] = [];
  for (const [i, stage] of spec.stages.entries()) {
    const text = formatSelector(stage.clusters.selector);
    const taker = takenBy.get("every cluster") ?? takenBy.get(text);
    if (taker !== undefined) {
      findings.push({
        code: "STAGE_SHADOWED",
        severity: "warning",
        message: `stage "${stage.name}" never gets a cluster: "${taker}" takes all of ${text}`,
        hint: "put the narrower stage first, or limit the earlier one by maxClusters",
        path: ["spec", "stages", i, "clusters", "selector"],
      });
    } else if (stage.maxClusters === "100%") takenBy.set(text, stage.name);
  }
  return findings;
}

function ordersAreComplete({ spec }: Resource): Finding[] {
  return spec.stages.flatMap((stage, i): Finding[] => {
    const path = ["spec", "stages", i, "order"];
    if (stage.order.by === "label" && stage.order.key === undefined)
      return [{ code: "ORDER_KEY", message: "order by label does not say which label", hint: "add key", path }];
    if (stage.order.by === "name" && stage.order.key !== undefined)
      return [{ code: "ORDER_KEY", message: "order by name has no key", hint: "write by: label, or remove key", path: [...path, "key"] }];
    return [];
  });
}

function oneTopologyKey({ spec }: Resource): Finding[] {
  return spec.stages.flatMap((stage, i): Finding[] => {
    const inner = stage.clusters.topologyKey;
    if (inner === undefined || stage.topologyKey === undefined || inner === stage.topologyKey) return [];
    return [
      {
        code: "TOPOLOGY_KEY",
        message: `topologyKey is "${stage.topologyKey}" and clusters.topologyKey "${inner}"`,
        hint: "they mean the same; keep one",
        path: ["spec", "stages", i, "clusters", "topologyKey"],
      },
    ];
  });
}

function sourceIsNamed({ spec }: Resource): Finding[] {
  const { kind, name, selector, apiGroup } = spec.sourceRef;
  const path = ["spec", "sourceRef"];
  const findings: Finding[] = [];
  if (kind === "ApplicationSet" && name === undefined)
    findings.push({ code: "SOURCE_REF", message: "sourceRef names no ApplicationSet", hint: "add name", path });
  if (kind === "ApplicationSet" && selector !== undefined)
    findings.push({
      code: "SOURCE_REF",
      message: "selector is for kind Application",
      hint: "remove it: every Application of the ApplicationSet is a target",
      path: [...path, "selector"],
    });
  if (kind === "Application" && name === undefined && selector === undefined)
    findings.push({ code: "SOURCE_REF", message: "sourceRef says not which Applications", hint: "add a selector over their labels", path });
  if (selector !== undefined) findings.push(...checkSelector(selector, [...path, "selector"]));
  if (apiGroup.split("/")[0] !== "argoproj.io")
    findings.push({
      code: "SOURCE_REF",
      message: `apiGroup cannot be "${apiGroup}"`,
      hint: "write argoproj.io/v1alpha1",
      path: [...path, "apiGroup"],
    });
  return findings;
}

function releaseIsOne({ spec }: Resource): Finding[] {
  return spec.release === undefined ? [] : checkRelease(spec.release, ["spec", "release"]);
}

function pinsAreWhole({ spec }: Resource): Finding[] {
  return spec.pins === undefined ? [] : checkPins(spec.pins, spec.release, spec.delivery.strategy, ["spec", "pins"]);
}

function inventoryIsInRepo({ spec }: Resource): Finding[] {
  return spec.inventory === undefined ? [] : checkFile(spec.inventory.file, ["spec", "inventory", "file"]);
}

function deliveryTemplates({ spec }: Resource): Finding[] {
  return checkDelivery(spec.delivery, spec.release, ["spec", "delivery"]);
}

function windowsCanBeRead({ spec }: Resource): Finding[] {
  return checkWindows(spec.windows ?? [], ["spec", "windows"]);
}

/** Every rule of one resource; what several resources or the repo must agree on is looked at by lint. */
export const RULES: readonly Rule[] = [
  nameIsUsable,
  stageNamesAreUnique,
  selectorsCanMatch,
  laterStagesGetClusters,
  ordersAreComplete,
  windowsCanBeRead,
  paceIsMeant,
  analysesAndHooks,
  oneTopologyKey,
  sourceIsNamed,
  releaseIsOne,
  pinsAreWhole,
  inventoryIsInRepo,
  deliveryTemplates,
  checkSteps,
];
