import { expect, test } from "vitest";
import { isRegionWord } from "./environments.ts";

test("short names of regions are regions, and numbered names of services that end alike are not", () => {
  const regions = [
    "euw1",
    "use1",
    "usw2",
    "usc1",
    "apse1",
    "apne3",
    "cac1",
    "sae1",
    "mec1",
    "afs1",
    "ilc1",
    "ase1",
    "us",
    "emea",
    "westeurope",
  ];
  expect(regions.filter((word) => !isRegionWord(word))).toEqual([]);
  expect(["svc0", "svc12", "rpc1", "dns2", "cms1", "pos3", "web1", "app1"].filter(isRegionWord)).toEqual([]);
});
