import { describe, expect, test } from "vitest";
import { equalDestination, normalRepo, sameValue } from "./same.ts";

test.each([
  ["https://github.com/acme/config.git", "github.com/acme/config"],
  ["https://bot:token@GitHub.com/acme/config/", "github.com/acme/config"],
  ["git@github.com:acme/config.git", "github.com/acme/config"],
  ["ssh://git@github.com:22/acme/config", "github.com/acme/config"],
  ["ssh://git@git.example.com:7999/acme/config.git", "git.example.com:7999/acme/config"],
  ["http://127.0.0.1:4321/acme/config.git", "127.0.0.1:4321/acme/config"],
  ["registry.example.com/charts", "registry.example.com/charts"],
  ["https://github.com/Acme/Config", "github.com/Acme/Config"],
])("%s is %s", (url, normal) => {
  expect(normalRepo(url)).toBe(normal);
});

describe("destinations", () => {
  const cluster = { name: "eu-1", server: "https://eu-1.example.com", labels: {}, registered: true };
  test.each([
    ["names count where both have one", { name: "a", server: "x" }, { name: "a", server: "y" }, true],
    ["a final slash does not", { server: "https://x/" }, { server: "https://x" }, true],
    ["another namespace is another place", { name: "a", namespace: "n" }, { name: "a" }, false],
    ["a name and its server are one where the cluster is known", { name: "eu-1" }, { server: "https://eu-1.example.com/" }, true],
    ["a name and another server are not", { name: "eu-1" }, { server: "https://eu-2.example.com" }, false],
  ])("%s", (_name, a, b, same) => {
    expect(equalDestination(a, b, cluster)).toBe(same);
  });
});

test("an absent field and its zero value are one, any other difference is not", () => {
  expect(sameValue({ helm: { skipCrds: false, parameters: [] } }, { helm: {} })).toBe(true);
  expect(sameValue({ helm: { parameters: [{ name: "a", value: "1" }] } }, { helm: { parameters: [{ name: "a", value: "2" }] } })).toBe(
    false,
  );
  expect(sameValue([1, 2], [2, 1])).toBe(false);
  expect(sameValue({ constructor: "x" }, {})).toBe(false);
});

test("nesting without end is never the same, and never a crash", () => {
  const deep = () => {
    let value: unknown = 1;
    for (let i = 0; i < 50_000; i++) value = [value];
    return value;
  };
  expect(sameValue(deep(), deep())).toBe(false);
});
