import { expect, test } from "vitest";
import { run } from "./demo.ts";
import { faultsOf } from "./demo-faults.ts";

test("a fault of a cluster the fleet lacks is wrong usage that names those there are", async () => {
  await expect(run(["--once", "--fail", "nosuch=degraded"])).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/no cluster "nosuch"; it has eu-west-1-a, .*us-east-1-d/),
  });
  expect(() => faultsOf(["eu-west-1-z=degraded"])).toThrow("did you mean eu-west-1-a?");
  expect(() => faultsOf(["eu-west-1-a=broken"])).toThrow("degraded, stuck");
});

test("faults of known clusters are taken, as many as are given", () => {
  expect(faultsOf(["eu-west-1-a=degraded", "us-east-1-b=stuck"])).toEqual([
    { cluster: "eu-west-1-a", kind: "degraded" },
    { cluster: "us-east-1-b", kind: "stuck" },
  ]);
});
