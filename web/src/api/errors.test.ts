import { describe, expect, it } from "vitest";
import { failureOf, isSignInRequired, isWorthRetrying, type Problem } from "./errors";

const problem = (changes: Partial<Problem>): Problem => ({
  type: "urn:pegel:problem:invalid",
  title: "Invalid input",
  status: 400,
  detail: "one field is wrong",
  instance: "/api/v1/session",
  code: "invalid",
  request_id: "01939f2e-7c1a-7000-8000-000000000000",
  ...changes,
});

describe("failures", () => {
  it("keep the code, the id and the fields of a problem", () => {
    const failure = failureOf(problem({ errors: [{ pointer: "/name", code: "length", detail: "is too long" }] }));
    expect(failure).toMatchObject({
      code: "invalid",
      title: "Invalid input",
      requestId: "01939f2e-7c1a-7000-8000-000000000000",
    });
    expect(failure.fields.get("/name")).toBe("Is too long.");
  });

  it("say some codes in the console's own words", () => {
    expect(failureOf(problem({ code: "login_failed", status: 401 })).title).toBe("The name or the password is wrong");
  });

  it("tell a lost connection from an answer that is not Pegel's", () => {
    expect(failureOf(new TypeError("Failed to fetch")).code).toBe("offline");
    expect(failureOf("<html>").code).toBe("unreadable");
    expect(failureOf(undefined).code).toBe("unreadable");
  });

  it("are retried only where that can help", () => {
    expect(isWorthRetrying(new TypeError("x"))).toBe(true);
    expect(isWorthRetrying(problem({ status: 503 }))).toBe(true);
    expect(isWorthRetrying(problem({ status: 403 }))).toBe(false);
    expect(isWorthRetrying(problem({ status: 500 }))).toBe(false);
  });

  it("of one who is not signed in are known", () => {
    expect(isSignInRequired(problem({ code: "sign_in_required", status: 401 }))).toBe(true);
    expect(isSignInRequired(problem({ code: "login_failed", status: 401 }))).toBe(false);
  });
});
