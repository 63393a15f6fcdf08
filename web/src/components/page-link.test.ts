import { describe, expect, it } from "vitest";
import { pageLink } from "./page-link";

describe("the link to a page", () => {
  it("has the zone of its times, whatever else it says", () => {
    expect(pageLink("http://localhost/console/clusters/lab/config?q=a+b", "UTC")).toBe(
      "http://localhost/console/clusters/lab/config?q=a+b&tz=UTC",
    );
    expect(pageLink("http://localhost/?tz=UTC", "Asia/Tokyo")).toBe("http://localhost/?tz=Asia/Tokyo");
  });
});
