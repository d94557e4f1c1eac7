/** The inside of a cell that reads one text by one of the parsers which only what stands in pull requests reaches. */
import { serveCell } from "../../../src/adapters/cell/inside.ts";
import { render } from "../../../src/core/appset/render.ts";
import { readYamlDocuments } from "../../../src/core/base/yaml-read.ts";
import { findPin } from "../../../src/core/pins/find.ts";
import { parseRollouts } from "../../../src/core/spec/parse/parse.ts";

const set = (template: unknown, elements: unknown[] = [{ a: "1" }]) => ({
  metadata: { name: "a" },
  spec: {
    goTemplate: true,
    generators: [{ list: { elements } }],
    template: { metadata: { name: "{{ .a }}" }, spec: { project: template } },
  },
});

await serveCell({
  rollout: async (text) => parseRollouts(text as string, "rollouts/a.yaml").problems.length,
  manifest: async (text) => readYamlDocuments(text as string).length,
  pin: async (text) => findPin(text as string, { path: "spec.a" }).ok,
  template: async (text) => render(set(text), { clusters: [] }).problems.length,
  "many templates": async (text) =>
    render(
      set(
        text,
        Array.from({ length: 2000 }, (_, index) => ({ a: `${index}` })),
      ),
      { clusters: [] },
    ).problems.length,
});
