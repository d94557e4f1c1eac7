import { expect, test } from "vitest";
import { specDifference } from "./same-spec.ts";

const GIT = {
  generators: [{ list: { elements: [{ cluster: "eu-1", targetRevision: "v1" }] } }],
  template: { metadata: { name: "app-{{cluster}}" }, spec: { project: "default", destination: { server: "{{server}}" } } },
};
const GENERATOR = GIT.generators[0];

const SAME: [string, object][] = [
  ["nothing", {}],
  [
    "an empty template of the generator",
    { generators: [{ ...GENERATOR, template: { metadata: {}, spec: { destination: {}, project: "" } } }] },
  ],
  ["empty values and selector", { generators: [{ ...GENERATOR, values: {}, selector: { matchLabels: {} } }] }],
  [
    "switches that are off and empty texts",
    { goTemplate: false, applyNestedSelectors: false, templatePatch: "", strategy: {}, syncPolicy: null },
  ],
  ["fields to preserve", { preservedFields: { annotations: ["a.example/b"] } }],
];

test.each(SAME)("a cluster that adds %s has Git's ApplicationSet", (_name, more) => {
  expect(specDifference({ ...GIT, ...more }, GIT)).toBeUndefined();
  expect(specDifference(GIT, { ...GIT, ...more })).toBeUndefined();
});

const OTHER: [string, object, string][] = [
  ["a template patch", { templatePatch: "spec: {}" }, "spec.templatePatch"],
  ["another template language", { goTemplate: true }, "spec.goTemplate"],
  ["nested selectors", { applyNestedSelectors: true }, "spec.applyNestedSelectors"],
  ["a selector", { generators: [{ ...GENERATOR, selector: { matchLabels: { a: "b" } } }] }, "spec.generators[0].selector"],
  ["another generator", { generators: [GENERATOR, GENERATOR] }, "spec.generators"],
  [
    "a parameter, even an empty one",
    { generators: [{ list: { elements: [{ cluster: "eu-1", targetRevision: "v1", area: "" }] } }] },
    "spec.generators[0].list.elements[0].area",
  ],
  ["another project", { template: { ...GIT.template, spec: { ...GIT.template.spec, project: "other" } } }, "spec.template.spec.project"],
  ["another kind of value", { template: "none" }, "spec.template"],
];

test.each(OTHER)("%s in only one of cluster and Git is a difference, with its place", (_name, more, place) => {
  expect(specDifference({ ...GIT, ...more }, GIT)).toBe(place);
  expect(specDifference(GIT, { ...GIT, ...more })).toBe(place);
});
