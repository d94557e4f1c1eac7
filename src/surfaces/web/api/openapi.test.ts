import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { openApiDocument } from "./openapi.ts";

test("the API's description is an OpenAPI 3.1 document, by OpenAPI's own schema", async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate({ ...openApiDocument() });
  expect([valid, errors, validator.version]).toEqual([true, undefined, "3.1"]);
  const { paths: _, ...broken } = openApiDocument() as { paths: unknown };
  expect((await new Validator().validate({ ...broken, paths: [] })).valid).toBe(false);
});

test("every shape that is referred to is there, and none that is not", () => {
  const document = openApiDocument() as { components: { schemas: object } };
  const named = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, id]) => id ?? "");
  expect(Object.keys(document.components.schemas).sort()).toEqual([...new Set(named)].sort());
});
