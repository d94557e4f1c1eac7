import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { openSeal, SEAL_TRAILER, sealKey } from "./seal.ts";

const OURS = sealKey("the first key, which seals what is made from now on");
const BEFORE = sealKey("the key of before, whose seals hold for a while");
const COMMIT = { parent: "a".repeat(40), tree: "b".repeat(40), trailers: { "Stagecoach-App": "stagecoach[bot]", "Signed-off-by": "x" } };

function sealed(stamp: string, over: Partial<typeof COMMIT> = {}) {
  const { trailers, ...rest } = { ...COMMIT, ...over };
  return { ...rest, trailers: { ...trailers, [SEAL_TRAILER]: stamp } };
}

test("a seal holds for what it was made for, and for nothing else", () => {
  const seal = openSeal([OURS], "17");
  const stamp = seal.stamp(42, COMMIT);
  expect(seal.check(sealed(stamp))).toEqual({ sequence: 42 });
  const broken = { fault: { code: "SEAL_BROKEN" } };
  const { parent: _, ...orphan } = sealed(stamp);
  expect(seal.check({ ...orphan, parent: undefined })).toEqual(broken);
  for (const over of [
    { parent: "c".repeat(40) },
    { tree: "c".repeat(40) },
    { trailers: { ...COMMIT.trailers, "Stagecoach-Accept": "none" } },
  ])
    expect(seal.check(sealed(stamp, over))).toEqual(broken);
  expect(seal.check(sealed(stamp.replace(".42.", ".43.")))).toEqual(broken);
  expect(openSeal([OURS], "18").check(sealed(stamp))).toEqual(broken);
  // What GitHub or a person adds below is not ours, and says nothing.
  expect(seal.check(sealed(stamp, { trailers: { ...COMMIT.trailers, "Signed-off-by": "y" } }))).toEqual({ sequence: 42 });
});

test("without a seal of a known key it is foreign, whatever it looks like", () => {
  const seal = openSeal([OURS, BEFORE], "17");
  expect(seal.check(COMMIT)).toEqual({ fault: { code: "NOT_SEALED" } });
  expect(seal.check(sealed(openSeal([BEFORE], "17").stamp(1, COMMIT)))).toEqual({ sequence: 1 });
  const other = sealKey("a key that nobody ever gave to this server");
  expect(seal.check(sealed(openSeal([other], "17").stamp(1, COMMIT)))).toEqual({ fault: { code: "SEAL_OF_OTHER_KEY", key: other.id } });
  for (const stamp of ["", "v1", `v1.${OURS.id}.1.short`, `v1.${OURS.id}.0.${"A".repeat(43)}`])
    expect(seal.check(sealed(stamp))).toMatchObject({ fault: { code: "SEAL_OF_OTHER_KEY" } });
  expect(seal.check(sealed(`v2.${OURS.id}.1.${"A".repeat(43)}`))).toEqual({ fault: { code: "SEAL_NEWER", has: "v2" } });
});

test("a key is derived from a private key however that is written, and a short secret is refused", () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const [one, two] = (["pkcs1", "pkcs8"] as const).map((type) => String(privateKey.export({ type, format: "pem" })));
  expect(sealKey(one ?? "")).toEqual(sealKey((two ?? "").replaceAll("\n", "\\n")));
  expect(() => sealKey("too short")).toThrow("at least 32 characters");
  expect(() => sealKey("-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----")).toThrow("cannot be read");
});
