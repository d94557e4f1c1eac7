import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { billOfMaterials, componentsOf, librariesOf, licenceCounts, licenceTexts } from "../../deploy/package/libraries.ts";

/** A project whose libraries have these licences. Gives a module of each. */
function project(licences: Record<string, unknown>): { root: string; modules: string[] } {
  const root = mkdtempSync(join(tmpdir(), "libraries-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const packages: Record<string, object> = {};
  for (const [name, license] of Object.entries(licences)) {
    const folder = join(root, "node_modules", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: name.split("/node_modules/").at(-1), version: "1.2.3", license }));
    writeFileSync(join(folder, "LICENSE.md"), `Copyright of ${name}\n`);
    packages[`node_modules/${name}`] = { integrity: `sha512-${Buffer.from(name).toString("base64")}` };
  }
  writeFileSync(join(root, "package-lock.json"), JSON.stringify({ packages }));
  return { root, modules: Object.keys(licences).map((name) => join(root, "node_modules", name, "lib/index.js")) };
}

test("what is bundled is told with its licences, and as a bill of materials", () => {
  const { root, modules } = project({ "@a/b": "MIT", c: "ISC", "c/node_modules/d": "Apache-2.0" });
  const found = librariesOf([...modules, join(root, "src/main.ts")], root);
  expect(licenceCounts(found)).toBe("3 libraries: 1 Apache-2.0, 1 ISC, 1 MIT");
  expect(licenceTexts(found)).toContain("@a/b 1.2.3 (MIT)\n\nCopyright of @a/b\n");
  const bill = JSON.parse(
    billOfMaterials({ component: { type: "application", name: "x", version: "1.0.0", description: "y" } }, componentsOf(found)),
  );
  expect(bill.components[2]).toEqual({
    ...{ type: "library", "bom-ref": "pkg:npm/d@1.2.3", name: "d", version: "1.2.3", purl: "pkg:npm/d@1.2.3" },
    licenses: [{ license: { id: "Apache-2.0" } }],
    hashes: [{ alg: "SHA-512", content: Buffer.from("c/node_modules/d").toString("hex") }],
  });
  expect(bill.dependencies[0]).toEqual({
    ref: "pkg:npm/x@1.0.0",
    dependsOn: ["pkg:npm/%40a/b@1.2.3", "pkg:npm/c@1.2.3", "pkg:npm/d@1.2.3"],
  });
});

test.each(["GPL-3.0-only", "(MIT OR GPL-2.0)", "MPL-2.0", "SEE LICENSE IN x", undefined])(
  "the build ends where a library is under %s",
  (licence) => {
    const { root, modules } = project({ good: "MIT", bad: licence });
    expect(() => librariesOf(modules, root)).toThrow(`would hold bad 1.2.3 (${String(licence)}): leave it out, or replace it`);
  },
);
