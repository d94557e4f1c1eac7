import { expect, test } from "vitest";
import type { RenderProblem } from "../../reasons/render.ts";
import { sayRender } from "./render.ts";
import { RENDER_SAMPLES } from "./testing/render-samples.ts";

test("whatever a set cannot be rendered for is said in each of its kinds, with the next step", async () => {
  const lines = Object.entries(RENDER_SAMPLES).flatMap(([code, samples]) =>
    samples.map((data) => {
      const { message, hint } = sayRender({ code, ...data, where: "spec" } as RenderProblem);
      expect(`${message}${hint}`).not.toMatch(/undefined|\[object/);
      return `${code}: ${message}\n  → ${hint}`;
    }),
  );
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("__snapshots__/render.txt");
});
