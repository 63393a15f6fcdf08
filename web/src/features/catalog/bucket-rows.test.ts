import { expect, it } from "vitest";
import { bucketRows, coverageLook } from "./bucket-rows";

it("a partition that could not be read stays in the list, with its reason", () => {
  const failure = { code: "request_timeout", message: "no answer" } as const;
  const rows = bucketRows([
    {
      partition: "kr",
      state: "ok",
      buckets: [
        { bucket: 0, state: "ok" as const },
        { bucket: 1, state: "ok" as const },
      ],
    },
    { partition: "us", state: "unavailable", buckets: [], failure },
  ]);
  expect(rows.map((row) => row.id)).toEqual(["kr/0", "kr/1", "us/"]);
  expect(rows.map(coverageLook).map((look) => look.words)).toEqual(["OK", "OK", "unavailable: request_timeout"]);
});
