import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openLocalWriter, sshJudge } from "../local-writer.ts";
import { openMirror } from "../mirror.ts";
import { workspace } from "../testing/repositories.ts";
import { sshKey } from "../testing/ssh-keys.ts";
import { signedParts, withSignature } from "./commit-signature.ts";
import { publicKeyBlob, readSigningKey } from "./ssh-key.ts";
import { signPayload, whyNotSigned } from "./ssh-signature.ts";

const { secret: KEY, pub: PUBLIC } = sshKey();

const keygen = spawnSync("ssh-keygen", ["-?"]).error === undefined;
if (!keygen) console.log("skipped: what ssh-keygen itself says of our signatures (no ssh-keygen here)");

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "stagecoach-ssh-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function made(type: string, ...more: string[]): { secret: string; pub: string } {
  const file = join(directory, `key-${type}-${more.join("")}`);
  execFileSync("ssh-keygen", ["-q", "-t", type, "-N", "", "-C", "test", "-f", file, ...more]);
  return { secret: readFileSync(file, "utf8"), pub: readFileSync(`${file}.pub`, "utf8") };
}

const payload = Buffer.from("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor a <a@b> 1 +0000\n\nsubject\n");

describe("signatures of our own", () => {
  test("the public half is the one of the .pub file, and the same payload gives the same signature", () => {
    const key = readSigningKey(KEY);
    expect(key.publicKey).toBe(PUBLIC.split(" ").slice(0, 2).join(" "));
    expect(signPayload(key, payload)).toBe(signPayload(key, payload));
    expect(signPayload(key, payload)).toMatch(/^-----BEGIN SSH SIGNATURE-----\n(?:[\w+/=]{1,70}\n)+-----END SSH SIGNATURE-----$/);
  });

  test("hold for what was signed, by this key, and for nothing else", () => {
    const signature = signPayload(readSigningKey(KEY), payload);
    const ours = [publicKeyBlob(PUBLIC)];
    expect(whyNotSigned(signature, payload, ours)).toBeUndefined();
    expect(whyNotSigned(signature, Buffer.concat([payload, Buffer.from("x")]), ours)).toEqual({
      code: "SIGNATURE_FAULT",
      fault: "Mismatch",
    });
    expect(whyNotSigned(signature, payload, [])).toEqual({ code: "SIGNATURE_FAULT", fault: "OtherKey" });
    expect(whyNotSigned("-----BEGIN PGP SIGNATURE-----\nx\n-----END PGP SIGNATURE-----", payload, ours)).toEqual({
      code: "SIGNATURE_FAULT",
      fault: "NoSsh",
    });
    expect(whyNotSigned(signature.replace(/\n.{20}/, "\n"), payload, ours)).toEqual({ code: "SIGNATURE_FAULT", fault: "Damaged" });
  });

  test.each([
    ["nothing of a key", "hello", "no OpenSSH private key"],
    ["a damaged key", KEY.replace(/\n.{30}/, "\n"), "damaged"],
  ])("%s is refused without repeating it", (_name, text, why) => {
    expect(() => readSigningKey(text)).toThrow(why);
  });

  test("a public key has to be one", () => {
    expect(() => publicKeyBlob("ssh-ed25519 AAAA")).toThrow("no public key");
    expect(() => publicKeyBlob(PUBLIC.replace("ssh-ed25519", "ssh-rsa"))).toThrow("no public key");
  });
});

describe("a commit's signature", () => {
  const commit = Buffer.from("tree 4b\nparent 4c\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nsubject\n\ngpgsig in the text\n");

  test("goes in after the other headers and comes out again with what was signed", () => {
    const signed = withSignature(commit, "-----BEGIN\nxx\nyy\n-----END");
    expect(signed.toString()).toContain("committer a <a@b> 1 +0000\ngpgsig -----BEGIN\n xx\n yy\n -----END\n\nsubject");
    expect(signedParts(signed)).toEqual({ payload: commit, signature: "-----BEGIN\nxx\nyy\n-----END" });
  });

  test("is none where only the message speaks of one", () => {
    expect(signedParts(commit)).toBeUndefined();
  });
});

describe("commits that the mirror writes with a key", () => {
  test("are the same when written again, believed with the key and not without", async () => {
    const place = workspace();
    const mirror = await openMirror({ directory: join(place.directory, "mirror.git"), url: place.origin, allowFile: true });
    try {
      await mirror.fetch();
      const head = await mirror.head("main");
      const input = { branch: "b", head: undefined, changes: new Map([["x", "1\n"]]), message: "one\n", at: 1_000_000 };
      const author = { name: "stagecoach[bot]", email: "stagecoach[bot]@users.noreply.github.com" };
      const writer = openLocalWriter({ mirror, author, key: readSigningKey(KEY) });
      const first = await writer.write({ ...input, ...(head === undefined ? {} : { from: head }) });
      if (first.kind !== "written") throw new Error("it was not written");
      const again = await writer.write({ ...input, branch: "c", ...(head === undefined ? {} : { from: head }) });
      expect(again).toEqual(first);
      expect(await writer.write({ ...input, branch: "b" })).toEqual({ kind: "stale" });
      const info = await mirror.commitInfo(first.commit);
      if (info === undefined || head === undefined) throw new Error("it is not in the mirror");
      expect(info).toMatchObject({ subject: "one", author: "stagecoach[bot]", parents: [head] });
      expect([...(await sshJudge(mirror, [PUBLIC]).foreign([info])).values()]).toEqual([]);
      const plain = await mirror.commitInfo(head);
      if (plain === undefined) throw new Error("there is no head");
      expect([...(await sshJudge(mirror, [PUBLIC]).foreign([plain])).values()]).toEqual([{ code: "NOT_SIGNED" }]);
      if (keygen) {
        writeFileSync(join(place.directory, "allowed"), `bot ${PUBLIC}\n`);
        const args = ["-c", `gpg.ssh.allowedSignersFile=${join(place.directory, "allowed")}`, "verify-commit", "-v", first.commit];
        const said = spawnSync("git", args, { cwd: join(place.directory, "mirror.git"), encoding: "utf8" });
        expect([said.status, said.stderr]).toEqual([0, expect.stringContaining("Good")]);
      }
    } finally {
      await mirror.close();
      place.remove();
    }
  });
});

describe.runIf(keygen)("what ssh-keygen itself says", () => {
  test.each([
    ["ed25519", []],
    ["rsa", ["-b", "2048"]],
  ])("of a signature with a key of type %s", (type, more) => {
    const { secret, pub } = made(type, ...more);
    const signature = signPayload(readSigningKey(secret), payload);
    writeFileSync(join(directory, "allowed"), `bot ${pub}`);
    writeFileSync(join(directory, "sig"), `${signature}\n`);
    const args = ["-Y", "verify", "-f", join(directory, "allowed"), "-I", "bot", "-n", "git", "-s", join(directory, "sig")];
    expect(execFileSync("ssh-keygen", args, { input: payload, encoding: "utf8" })).toContain("Good");
    expect(whyNotSigned(signature, payload, [publicKeyBlob(pub)])).toBeUndefined();
  });

  test("a signature that ssh-keygen makes is believed", () => {
    const { pub } = made("ed25519", "-a", "1");
    const file = join(directory, "key-ed25519--a1");
    const signature = execFileSync("ssh-keygen", ["-q", "-Y", "sign", "-n", "git", "-f", file], { input: payload, encoding: "utf8" });
    expect(whyNotSigned(signature, payload, [publicKeyBlob(pub)])).toBeUndefined();
    const other = execFileSync("ssh-keygen", ["-q", "-Y", "sign", "-n", "file", "-f", file], { input: payload, encoding: "utf8" });
    expect(whyNotSigned(other, payload, [publicKeyBlob(pub)])).toEqual({ code: "SIGNATURE_FAULT", fault: "OtherUse" });
  });

  test("a key with a passphrase, and one of another kind, are refused with the reason", () => {
    const file = join(directory, "locked");
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "secret", "-f", file]);
    expect(() => readSigningKey(readFileSync(file, "utf8"))).toThrow("has a passphrase");
    expect(() => readSigningKey(made("ecdsa").secret)).toThrow("only ssh-ed25519 and ssh-rsa");
  });
});
