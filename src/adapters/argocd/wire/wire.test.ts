import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import { rawApplication } from "../testing/application.ts";
import { createCutter, TooDeep } from "./cut.ts";
import { createObjectCutter } from "./object.ts";
import { Seldom } from "./shape.ts";
import { APPLICATION } from "./shapes.ts";
import { createLineSplitter, createListSplitter } from "./split.ts";

const bytes = (value: unknown) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));

describe("cutting JSON", () => {
  test("keeps everything where nothing is to be dropped", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(createCutter({})(bytes(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  test("drops keys at their place and nowhere else", () => {
    const cutter = createCutter({ status: { history: false }, data: { "*": false, name: true } });
    const given = {
      history: 1,
      status: { history: [{ "}": '"' }], sync: { history: 2 }, last: null },
      data: { config: 'se"cret', name: "eu", x: 1 },
    };
    expect(cutter(bytes(JSON.stringify(given, null, 2)))).toEqual({
      history: 1,
      status: { sync: { history: 2 }, last: null },
      data: { name: "eu" },
    });
  });

  test("a shape for a list is that of its objects", () => {
    expect(createCutter({ list: { a: false } })(bytes({ list: [{ a: 1, b: 2 }, [{ a: 1 }], 3] }))).toEqual({
      list: [{ b: 2 }, [{ a: 1 }], 3],
    });
  });

  test("a list that seldom matters is read where one of its texts is, or may be, in it", () => {
    const cutter = createCutter({ list: new Seldom({ "*": false, kind: true }, /Job"/) });
    const some = { kind: "Deployment", health: {} };
    expect(cutter(bytes({ list: [some, { kind: "Pod" }], x: 1 }))).toEqual({ list: [], x: 1 });
    expect(cutter(bytes({ list: [some, { kind: "CronJob", x: 1 }] }))).toEqual({ list: [{ kind: "Deployment" }, { kind: "CronJob" }] });
    expect(cutter(bytes('{"list":[{"kind":"\\u004aob"}]}'))).toEqual({ list: [{ kind: "Job" }] });
    expect(cutter(bytes({ list: null }))).toEqual({ list: null });
    expect(() => cutter(bytes('{"list":[{"kind":"Pod"}'))).toThrow(SyntaxError);
  });

  test("which resources are not well is told of a sync that failed and of what is Degraded, and costs nothing elsewhere", () => {
    const cutter = createCutter(APPLICATION);
    const seen = (status: string, health: string) => {
      const one = { group: "apps", kind: "Deployment", namespace: "web", name: "api", images: ["a:1"] };
      const tried = { ...one, status, syncPhase: "Sync", message: "denied" };
      const operationState = { phase: "Failed", startedAt: "2026-11-21T10:00:00Z", finishedAt: "2026-11-21T10:00:50Z" };
      const raw = rawApplication({
        status: {
          resources: [{ ...one, health: { status: health } }],
          operationState: { ...operationState, syncResult: { resources: [tried] } },
        },
      });
      const kept = cutter(bytes(raw)) as { status: { resources: unknown[]; operationState: { syncResult: { resources: unknown[] } } } };
      const { resources, operationState: state } = kept.status;
      const { operation, degraded } = decodeApplication(kept, 0)?.status ?? {};
      return [operation?.failed ?? degraded, resources.length + state.syncResult.resources.length];
    };
    expect(seen("SyncFailed", "Healthy")).toEqual([["Deployment web/api: SyncFailed: denied"], 1]);
    expect(seen("Synced", "Degraded")).toEqual([["Deployment web/api: Degraded"], 1]);
    expect(seen("Synced", "Healthy")).toEqual([undefined, 0]);
  });

  test("images of an Application are told, and not where one of its many resources is a Job", () => {
    const pods = Array.from({ length: 60 }, (_, i) => ({ kind: "Deployment", name: `d-${i}`, health: { status: "Healthy" } }));
    const cutter = createCutter(APPLICATION);
    const imagesBeside = (resources: object[]) =>
      decodeApplication(cutter(bytes(rawApplication({ status: { resources, summary: { images: ["a:1"] } } }))), 0)?.status.images;
    expect(imagesBeside(pods)).toEqual(["a:1"]);
    for (const kind of ["Job", "CronJob"]) expect(imagesBeside([...pods, { kind, name: "j" }]), kind).toBeUndefined();
  });

  test("a key that is written with escapes is the same key", () => {
    expect(createCutter({ config: false })(bytes('{"conf\\u0069g":"secret","x":1}'))).toEqual({ x: 1 });
  });

  test.each(['{"a":', "{", '{"a":1,}', "[1,]", '{"a" 1}', "{}{}", "", '{"a":[}]}', '"\\', "}", "{'a':1}", '{"a":tru}'])(
    "%s is no JSON",
    (text) => {
      for (const shape of [{}, { a: { b: false } }]) expect(() => createCutter(shape)(bytes(text))).toThrow(SyntaxError);
    },
  );

  test("nesting without end is refused in what is kept, and does no harm in what is not", () => {
    const deep = (depth: number) => bytes(`{"a":${"[".repeat(depth)}${"]".repeat(depth)},"b":1}`);
    expect(() => createCutter({})(deep(201))).toThrow(TooDeep);
    expect(createCutter({})(deep(200))).toMatchObject({ b: 1 });
    expect(createCutter({ a: false })(deep(100_000))).toEqual({ b: 1 });
    expect(() => createCutter({ a: false })(bytes(`{"a":${"[".repeat(100_000)}`))).toThrow(SyntaxError);
  });

  test("of an object that is nested too deeply what says which one it is is kept, and why the rest is not", () => {
    const cutter = createObjectCutter({ spec: true }, [
      { "*": false, metadata: true, spec: { "*": false, project: true } },
      { "*": false, metadata: true },
    ]);
    const nested = (field: string) =>
      bytes(`{"metadata":{"name":"a"},"spec":{"project":"p","${field}":${"[".repeat(300)}${"]".repeat(300)}}}`);
    expect(cutter(bytes('{"metadata":{"name":"a"},"spec":{"project":"p"}}'))).toEqual({
      raw: { metadata: { name: "a" }, spec: { project: "p" } },
    });
    const withheld = { code: "NESTED_TOO_DEEP", most: 200 };
    expect(cutter(nested("deep"))).toEqual({ raw: { metadata: { name: "a" }, spec: { project: "p" } }, withheld });
    expect(cutter(nested("project"))).toEqual({ raw: { metadata: { name: "a" } }, withheld });
    expect(() => cutter(bytes('{"metadata":{"name":'))).toThrow(SyntaxError);
    const all = bytes(`{"metadata":${"[".repeat(300)}${"]".repeat(300)}}`);
    expect(() => cutter(all)).toThrow(TooDeep);
  });
});

const items = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 5 });

/** The same bytes in chunks of any lengths. */
function pushed(splitter: { push(chunk: Buffer): void; end(): void }, text: string, sizes: readonly number[]): void {
  const all = Buffer.from(text);
  let at = 0;
  for (let n = 0; at < all.length; n++) {
    const size = Math.max(1, sizes[n % sizes.length] ?? 7);
    splitter.push(all.subarray(at, at + size));
    at += size;
  }
  splitter.end();
}

describe("taking answers apart", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 10 });

  test("a list gives its objects and its head, however it is chunked", () => {
    fc.assert(
      fc.property(items, fc.jsonValue(), sizes, fc.boolean(), (list, head, chunks, first) => {
        const answer = first ? { items: list, metadata: head } : { metadata: { items: head, x: [head] }, items: list };
        const found: unknown[] = [];
        const splitter = createListSplitter((item) => found.push(JSON.parse(item.toString())));
        pushed(splitter, JSON.stringify(answer, null, first ? 1 : 0), chunks);
        expect(found).toEqual(JSON.parse(JSON.stringify(list)));
        expect(splitter.envelope()).toEqual(JSON.parse(JSON.stringify({ ...answer, items: [] })));
      }),
    );
  });

  test("lines come whole, however they are chunked", () => {
    fc.assert(
      fc.property(items, sizes, (list, chunks) => {
        const found: unknown[] = [];
        const splitter = createLineSplitter((line) => found.push(JSON.parse(line.toString())));
        pushed(splitter, list.map((item) => `${JSON.stringify(item)}\n`).join("\n"), chunks);
        expect(found).toEqual(JSON.parse(JSON.stringify(list)));
      }),
    );
  });

  test("items that are no objects are left out, and null is an empty list", () => {
    const found: string[] = [];
    const splitter = createListSplitter((item) => found.push(item.toString()));
    pushed(splitter, '{"items":[1,"x",[{"a":1}],null,{"b":2}],"more":{"items":[{"c":3}]}}', [3]);
    expect(found).toEqual(['{"b":2}']);
    const none = createListSplitter((item) => found.push(item.toString()));
    pushed(none, '{"metadata":{},"items":null}', [4]);
    expect(found).toHaveLength(1);
  });

  test("an answer that breaks off is an error", () => {
    for (const text of ["", '{"items":[{"a":1}', '{"items":[{"a"', '{"items":[],"x":"']) {
      const splitter = createListSplitter(() => undefined);
      expect(() => pushed(splitter, text, [5]), text).toThrow(/broke off/);
    }
  });

  test("an object without end is refused, not held", () => {
    const splitter = createListSplitter(() => undefined);
    splitter.push(Buffer.from('{"items":[{"a":"'));
    const chunk = Buffer.alloc(1 << 20, 0x61);
    expect(() => {
      for (let i = 0; i < 40; i++) splitter.push(chunk);
    }).toThrow(/larger than 16777216 bytes/);
  });
});
