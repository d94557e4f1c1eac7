import { describe, expect, test } from "vitest";
import { parseTemplate, renderTemplate, type TemplateValues } from "./template.ts";

const VALUES: TemplateValues = {
  cluster: { name: "eu-1.prod", server: "https://eu-1", labels: { region: "eu", "topology.kubernetes.io/zone": "a" } },
  application: { name: "web", namespace: "argocd", path: "apps/web", labels: { env: "prod" } },
  destination: { namespace: "shop" },
  controlPlane: { name: "hub-eu", labels: { env: "prod" } },
  params: { "path.basename": "eu" },
  release: { version: "v2", chart: "1.2", image: `localhost:5000/web:v2@sha256:${"0".repeat(64)}`, bare: "ghcr.io/acme/web" },
};

function render(template: string, asPath = false): string {
  const parsed = parseTemplate(template);
  if (!parsed.ok) return `! ${parsed.fault.kind === "Open" ? parsed.fault.template : parsed.fault.variable}`;
  const rendered = renderTemplate(parsed.parts, VALUES, asPath);
  return rendered.ok ? rendered.text : `? ${rendered.missing}`;
}

describe("templates", () => {
  test.each([
    ["plain text", "plain text"],
    ["{{cluster.name}}/{{ application.namespace }}-{{ application.name }}", "eu-1.prod/argocd-web"],
    ["{{ cluster.labels.region }} {{ cluster.labels.topology.kubernetes.io/zone }}", "eu a"],
    ['{{ cluster.labels["topology.kubernetes.io/zone"] }}', "a"],
    ["{{ application.path }}/kustomization.yaml", "apps/web/kustomization.yaml"],
    ["{{ application.valuesFile }}", "? application.valuesFile"],
    ["{{ controlPlane.name }} {{ controlPlane.labels.env }}", "hub-eu prod"],
    ["{{ controlPlane.labels.region }}", "? controlPlane.labels.region"],
    ["{{ params.path.basename }}", "eu"],
    ["{{ release.version }} {{ release.values.chart }}", "v2 1.2"],
    ["{{ application.labels.env }} {{ destination.namespace }} {{ controlPlane }}", "prod shop hub-eu"],
    ["{{ release.values.image.tag }} {{ release.values['image'].digest }}", `v2 sha256:${"0".repeat(64)}`],
    ["{{ release.version.tag }} {{ release.version.digest }}", "? release.version.digest"],
    ["{{ release.values.bare.tag }}", "? release.values.bare.tag"],
    ["{{ cluster.labels.tag }} {{ cluster.name.tag }}", "! cluster.name.tag"],
    ["{{ application.labels.evn }}", "? application.labels.evn"],
    ["{{ cluster.labels.zone }}", "? cluster.labels.zone"],
    ["{{ release.values.toString }}", "? release.values.toString"],
    ["{{ cluster.nmae }}", "! cluster.nmae"],
    ["a {{ cluster.name", "! a {{ cluster.name"],
  ])("%s", (template, expected) => {
    expect(render(template)).toBe(expected);
  });
});

describe("in a pin path, a value with special characters is quoted where it is a whole name", () => {
  test.each([
    ["items[name={{ cluster.name }}].v", 'items[name="eu-1.prod"].v'],
    ["by.{{ cluster.name }}.v", 'by["eu-1.prod"].v'],
    ["{{ cluster.name }}.v", '["eu-1.prod"].v'],
    ["items[name={{ application.name }}].v", "items[name=web].v"],
    ['items[name="{{ cluster.name }}"].v', 'items[name="eu-1.prod"].v'],
    ["items[name=x-{{ application.name }}].v", "items[name=x-web].v"],
  ])("%s", (template, expected) => {
    expect(render(template, true)).toBe(expected);
  });
});

test.each([
  ["cluster.nmae", "cluster.name"],
  ["release.image", "release.values.image"],
  ["release.image.tag", "release.values.image.tag"],
  ["cluster.env", "cluster.labels.env"],
  ["steps.x", undefined],
])("of an unknown variable the one is told that was meant: %s", (variable, near) => {
  const parsed = parseTemplate(`{{ ${variable} }}`);
  expect(!parsed.ok && parsed.fault.kind === "Unknown" && parsed.fault.near).toBe(near);
});
