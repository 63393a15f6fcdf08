// @vitest-environment node
import { readFileSync } from "node:fs";
import openapiTS, { astToString, COMMENT_HEADER } from "openapi-typescript";
import { expect, it } from "vitest";

it("schema.ts is what the OpenAPI document makes (else: npm run generate)", async () => {
  const document = new URL("../../../docs/reference/openapi.json", import.meta.url);
  const fresh = COMMENT_HEADER + astToString(await openapiTS(document));
  const committed = readFileSync(new URL("./schema.ts", import.meta.url), "utf8");
  expect(committed === fresh, "run: npm run generate").toBe(true);
});
