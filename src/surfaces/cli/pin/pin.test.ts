import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sampleRepo } from "../testing/sample-repo.ts";
import { run } from "./pin.ts";

const here = sampleRepo({ empty: true });

function file(text: string | Uint8Array, name = "values.yaml"): string {
  const path = join(here.dir, name);
  writeFileSync(path, text);
  return path;
}

test("get prints the value, or a stable object", async () => {
  const path = file("# c\nimage: r:5000/app:v1\n");
  expect(await run(["get", path, "image", "--part", "tag"])).toBe(0);
  expect(here.out).toBe("v1\n");
  here.clear();
  expect(await run(["get", path, "image", "-o", "json"])).toBe(0);
  expect(JSON.parse(here.out)).toEqual({ file: path, path: "image", value: "r:5000/app:v1", line: 2, column: 8 });
});

test("set edits in place, keeps the mode, leaves nothing behind and says what stood there", async () => {
  const path = file("# c\r\nimage: 'app:v1' # keep\r\n");
  chmodSync(path, 0o640);
  expect(await run(["set", path, "image", "v2", "--part", "tag", "-o", "json"])).toBe(0);
  expect(readFileSync(path, "utf8")).toBe("# c\r\nimage: 'app:v2' # keep\r\n");
  expect(JSON.parse(here.out)).toEqual({ file: path, path: "image", value: "v2", line: 2, column: 13, from: "v1" });
  expect(statSync(path).mode & 0o777).toBe(0o640);
  expect(readdirSync(here.dir)).toEqual(["values.yaml"]);
});

test("what is said of a value is one line, and of a flag as the command line spells it", async () => {
  const path = file("image:\n  tag: v1\n  digest:\n");
  expect(await run(["set", path, "image.tag", "a\nb"])).toBe(0);
  expect(here.out).toContain('image.tag v1 → "a\\nb"\n');
  expect(await run(["get", path, "image.digest"])).toBe(1);
  expect(here.err).toContain("say `pin set --create` to write it");
  here.clear();
  expect(await run(["get", file("image: acme/app\n"), "image", "--part", "tag"])).toBe(1);
  expect(here.err).toContain("leave `--part` out, or say `pin set --create` to add it");
  here.clear();
  expect(await run(["set", file("image: acme/app\n"), "image", "v1", "--part", "tag"])).toBe(1);
  expect(here.err).toContain("say `--create` to add it");
});

test("set to what is there already does not touch the file", async () => {
  const path = file("a: v1\n");
  const before = statSync(path).ino;
  expect(await run(["set", path, "a", "v1"])).toBe(0);
  expect(here.out).toContain("is v1 already");
  expect(statSync(path).ino).toBe(before);
});

test("set --create writes an absent key and says where it is now", async () => {
  const path = file("a: 1\n");
  expect(await run(["set", path, "b.c", "3.10", "--create", "-o", "json"])).toBe(0);
  expect(readFileSync(path, "utf8")).toBe('a: 1\nb:\n  c: "3.10"\n');
  expect(JSON.parse(here.out)).toEqual({ file: path, path: "b.c", value: "3.10", line: 3, column: 6, from: null });
});

test("a value that begins with a dash comes after --", async () => {
  const path = file("a: 1\n");
  expect(await run(["set", path, "a", "--", "-5"])).toBe(0);
  expect(readFileSync(path, "utf8")).toBe("a: -5\n");
});

test("what cannot be done is one line with the place, and exit 1", async () => {
  const path = file("spec:\n  targetRevision: v1\n");
  for (const argv of [
    ["get", path, "spec.targetRevison"],
    ["set", path, "spec.targetRevison", "v2"],
  ]) {
    here.clear();
    expect(await run(argv)).toBe(1);
    expect(here.err).toBe(`${path}:2:3: spec.targetRevison: there is no key "targetRevison" in spec; did you mean "targetRevision"?\n`);
  }
  expect(here.out).toBe("");
  expect(readFileSync(path, "utf8")).toBe("spec:\n  targetRevision: v1\n");
});

test("a file that is not there is said so, with exit 3, and one that is not text, a folder or too large, with exit 1", async () => {
  expect(await run(["get", join(here.dir, "none.yaml"), "a"])).toBe(3);
  expect(await run(["get", file(new Uint8Array([0x61, 0x3a, 0x20, 0xff, 0x0a]), "latin.yaml"), "a"])).toBe(1);
  expect(await run(["get", here.dir, "a"])).toBe(1);
  expect(await run(["set", file(`a: 1\n${"# x\n".repeat(3_000_000)}`, "large.yaml"), "a", "2"])).toBe(1);
  expect(here.err.trimEnd().split("\n")).toHaveLength(4);
  expect(here.err).toMatch(/no such file.*not UTF-8.*not a plain file.*larger than 10 MiB/s);
});

test("a link stays a link, and the file it leads to is edited", async () => {
  const target = file("a: v1\n", "target.yaml");
  const link = join(here.dir, "link.yaml");
  symlinkSync("target.yaml", link);
  expect(await run(["set", link, "a", "v2"])).toBe(0);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readFileSync(target, "utf8")).toBe("a: v2\n");
});

test("a link that leads out of its Git repository is refused", async () => {
  const outside = file("a: v1\n", "outside.yaml");
  mkdirSync(join(here.dir, "repo/.git"), { recursive: true });
  symlinkSync("../outside.yaml", join(here.dir, "repo/link.yaml"));
  expect(await run(["set", join(here.dir, "repo/link.yaml"), "a", "v2"])).toBe(1);
  expect(here.err).toContain("leads out of the repository");
  expect(readFileSync(outside, "utf8")).toBe("a: v1\n");
});

test("wrong usage is exit 2, help is exit 0", async () => {
  expect(await run(["get", "x"])).toBe(2);
  expect(await run(["get", "x", "y", "--part", "name"])).toBe(2);
  expect(await run(["put"])).toBe(2);
  expect(await run([])).toBe(2);
  expect(await run(["--help"])).toBe(0);
  expect(await run(["set", "--help"])).toBe(0);
  expect(here.out).toContain("[key=value]");
});

test("a .json file is read as JSON alone", async () => {
  const path = file("{a: 1}\n", "x.json");
  expect(await run(["get", path, "a"])).toBe(1);
  expect(here.err).toMatch(/x\.json:1:2: not JSON/);
});
