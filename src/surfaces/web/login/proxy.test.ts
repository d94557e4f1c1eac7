import { BlockList } from "node:net";
import { expect, test } from "vitest";
import { type ProxyDoor, personOfProxy } from "./proxy.ts";

const from = new BlockList();
from.addSubnet("10.1.0.0", 16, "ipv4");
const SECRET = "s".repeat(32);
const door: ProxyDoor = { header: "x-forwarded-user", secretHeader: "x-proxy", secret: SECRET, from, sees: () => true };
const as = (name: string, secret: string | string[] = SECRET) => ({ "x-forwarded-user": name, "x-proxy": secret });

test("a person of the proxy is who it says, with its secret, from its network", () => {
  expect(personOfProxy(door, as(" wim "), "10.1.2.3")).toEqual({ name: "wim" });
  expect(personOfProxy(door, as("wim"), "::ffff:10.1.2.3")).toEqual({ name: "wim" });
  expect(personOfProxy({ ...door, from: undefined }, as("wim"), "192.0.2.1")).toEqual({ name: "wim" });
});

test.each([
  ["another secret", as("wim", "t".repeat(32)), "10.1.2.3"],
  ["the secret twice", as("wim", `${SECRET}, ${SECRET}`), "10.1.2.3"],
  ["an empty secret", as("wim", ""), "10.1.2.3"],
  ["another network", as("wim"), "10.2.0.1"],
  ["no address", as("wim"), ""],
  ["no name", { "x-proxy": SECRET }, "10.1.2.3"],
  ["an empty name", as("  "), "10.1.2.3"],
  ["a name with an escape", as("wim\u001b[31m"), "10.1.2.3"],
  ["a name without end", as("w".repeat(201)), "10.1.2.3"],
])("nobody is let in by %s", (_, headers, address) => {
  expect(personOfProxy(door, headers, address)).toBe("refused");
});

test("who does not say that they are the proxy is asked as everybody is", () => {
  expect(personOfProxy(door, { "x-forwarded-user": "wim" }, "10.1.2.3")).toBe(undefined);
});
