/** Says why a version has no place that a pin could name, and what would give it one. Told by `hindrance.ts`. */
import type { Hindrance, PlaceHindrance, SlotHindrance } from "../../reasons/onboarding.ts";
import { few } from "../reasons/phrases.ts";

const MOST_VALUES = 3;

const VERSION_IN_GIT = "give each of them a version in Git, such as targetRevision of a list element or newTag of an overlay";

/** The one that a label would mend, or else the first. */
export function slotOf({ slots }: Extract<Hindrance, { kind: "NoPin" }>): SlotHindrance {
  const [first = { slot: "its version", kind: "NotToldApart", texts: [] }] = slots;
  return slots.find((slot) => slot.kind === "NotToldApart" && slot.label !== undefined) ?? first;
}

export function versionHint({ anywhere, because: [first] }: Extract<Hindrance, { kind: "NoVersion" }>): string {
  if (anywhere || first === undefined) return VERSION_IN_GIT;
  if (first.kind === "BrokenFile") return "correct it, and run init again";
  if (first.kind === "OtherRepo") return "run init in a clone of that one: what these files say is released there";
  if (first.kind === "OtherBranch")
    return "let all of them read the default branch, at a folder or file for each; or each a branch of its own, none of them the default one, and label each with its environment: those a rollout moves";
  return VERSION_IN_GIT;
}

/** A set has generators; what is written by hand says itself what it reads. */
export function placeForEach({ slot, overlays }: Extract<Hindrance, { kind: "OneVersionForAll" }>): string {
  if (overlays === undefined)
    return "give each of them a place of its own: an element of a list generator, a file of its own, or two clusters-generator entries";
  if (!/^(?:kustomize|inline) /.test(slot)) return "give each Application a place of its own, such as a values file with its version";
  if (overlays.length > 0) return `point each Application at an overlay of its own (${few(overlays)}), with its version there`;
  return "point each Application at an overlay of its own, which takes in what they share and says its version";
}

/** A label is the shortest way where an environment's name is all that differs. */
export function labelHint(slots: readonly SlotHindrance[]): string | undefined {
  const label = slots.map((slot) => (slot.kind === "NotToldApart" ? slot.label : undefined)).find((one) => one !== undefined);
  if (label === undefined) return documentHint(slots);
  const values = [...new Set(label.values)].slice(0, MOST_VALUES).map((value) => `env: ${value}`);
  return `label each Application with its environment (${values.join(", ")}): the pin is then ${label.text}`;
}

/** Documents of one file are told apart by nothing but their numbers. */
function documentHint(slots: readonly SlotHindrance[]): string | undefined {
  const isNumbered = (slot: SlotHindrance) => slot.kind === "NotToldApart" && slot.texts.every((text) => /(?:^|\s)#\d+\//.test(text));
  if (!slots.some(isNumbered)) return undefined;
  return "give each of these documents a file of its own, called for its environment (shop-dev.yaml, shop-prod.yaml), and run init again";
}

export function saySlot(hindrance: SlotHindrance): string {
  const { slot } = hindrance;
  if (hindrance.kind === "OfSome") return `${slot} stands for ${hindrance.have} of ${hindrance.applications} Applications only`;
  const different = [...new Set(hindrance.texts)];
  const more = different.length > 2 ? ` (and ${different.length - 2} more)` : "";
  return `${slot}: no name of a cluster, Application or parameter tells ${different.slice(0, 2).join(" and ")}${more} apart`;
}

export function sayPlace(hindrance: PlaceHindrance): string {
  switch (hindrance.kind) {
    case "BrokenFile":
      return `${hindrance.file}:${hindrance.line} is broken YAML: ${hindrance.problem}`;
    case "OtherRepo":
      return `it is made of files of another repo, ${hindrance.repoURL}`;
    case "OtherBranch":
      return hindrance.some === true
        ? `some of them read the branch ${hindrance.branch} of this repo, others the default one, and a batch is merged into that alone`
        : `it reads the branch ${hindrance.branch} of this repo, and batches are merged into the default branch`;
    case "Floating":
      return `${hindrance.at} is ${hindrance.value === "" ? "empty" : hindrance.value}, which moves by itself`;
    case "NothingThere":
      return `${hindrance.folder === "" ? "the repo's root" : hindrance.folder} holds no version of an image or chart that can be told`;
    case "OfSecret":
      return `${hindrance.at} comes from ${hindrance.value} of the cluster's Secret, which is not in Git`;
  }
}
