import { expect, test } from "vitest";
import { whyNoHost, whyNoListening } from "./hosts.ts";

test.each(["github.com", "github.example.com", "GHE.Example.com:8443", "ghe", "127.0.0.1:34999", "[::1]:3000"])(
  "%s is the name of a host",
  (name) => {
    expect(whyNoHost(name)).toBeUndefined();
  },
);

test.each([
  ["https://github.example.com", "github.example.com"],
  ["github.example.com/", "github.example.com"],
  ["http://ghe.example.com:8443/api/v3?x#y", "ghe.example.com:8443"],
  ["https://coach:hunter2@ghe.example.com", "ghe.example.com"],
  [" ghe.example.com", "ghe.example.com"],
  ["999.1.1.1", undefined],
  ["ghe.example.com:99999", undefined],
  ["https://", undefined],
])("%s is not, and what to write is %s", (text, name) => {
  expect(whyNoHost(text)).toMatchObject({ code: "NOT_A_HOST", bare: name });
  expect(JSON.stringify(whyNoHost(text))).not.toContain("hunter2");
});

test.each(["0.0.0.0", "127.0.0.1", "::", "::1", "localhost", "bot.internal"])("a server may listen at %s", (address) => {
  expect(whyNoListening(address)).toBeUndefined();
});

test.each(["999.1.1.1", "1.2.3", "http://x", "localhost:3000", "[::1]", "a b", ""])("at %j nothing can listen", (address) => {
  expect(whyNoListening(address)).toMatchObject({ code: "NOT_LISTENABLE" });
});
