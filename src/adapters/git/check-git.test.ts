import { afterEach, expect, test } from "vitest";
import { checkGit } from "./run-git.ts";

const path = process.env["PATH"];

afterEach(() => {
  process.env["PATH"] = path;
});

test("the machine's git is new enough", async () => {
  await expect(checkGit()).resolves.toBeUndefined();
});

test("without git one line says what to install", async () => {
  process.env["PATH"] = "/nowhere";
  await expect(checkGit()).rejects.toMatchObject({ kind: "Unavailable", message: expect.stringContaining("install git 2.38") });
});
