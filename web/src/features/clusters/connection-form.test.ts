import { describe, expect, it } from "vitest";
import {
  bodyOf,
  connectionWords,
  draftOf,
  draftProblem,
  endpointError,
  NEW_CONNECTION,
  rangeError,
  SECONDS,
  secretsOf,
  slugError,
  slugFrom,
} from "./connection-form";

describe("secrets", () => {
  const stored = draftOf({
    endpoint: "a:1",
    security_protocol: "SASL_TLS",
    sasl_username: "pegel",
    has_sasl_password: true,
    has_tls_client_key: true,
    tls_skip_verify: false,
    dial_timeout_seconds: 10,
    request_timeout_seconds: 15,
    read_max_attempts: 2,
  });

  it("that are kept are not in the body at all", () => {
    const body = JSON.parse(JSON.stringify(bodyOf(stored)));
    expect(body).not.toHaveProperty("sasl_password");
    expect(body).not.toHaveProperty("tls_client_key");
  });

  it("are replaced by what is typed and removed by null", () => {
    expect(bodyOf({ ...stored, passwordChoice: "replace", password: "new" }).sasl_password).toBe("new");
    expect(bodyOf({ ...stored, passwordChoice: "remove" }).sasl_password).toBeNull();
  });

  it("of a protocol that is left are removed", () => {
    expect(bodyOf({ ...stored, protocol: "PLAINTEXT" })).toMatchObject({ sasl_password: null, tls_client_key: null });
  });
});

describe("what is typed", () => {
  it.each([
    ["a:9123", true],
    ["a:9123, b:9123", true],
    ["[::1]:9123", true],
    ["http://a:9123", false],
    ["a", false],
    ["", false],
    ["a:1,,b:2", false],
  ])("the endpoint %s is good: %s", (endpoint, good) => {
    expect(endpointError(endpoint) === undefined).toBe(good);
  });

  it.each([
    ["1", true],
    ["300", true],
    ["0", false],
    ["301", false],
    ["1.5", false],
    ["", false],
  ])("%s seconds are in range: %s", (text, good) => {
    expect(rangeError(text, SECONDS) === undefined).toBe(good);
  });

  it("a name for paths is made of the name for people", () => {
    expect(slugFrom("Orders EU (prod)")).toBe("orders-eu-prod");
    expect(slugFrom("42 Straße")).toBe("stra-e");
    expect(slugError(slugFrom("<img onerror>"))).toBeUndefined();
    expect(slugError("Orders")).toBeDefined();
  });

  it("says why it cannot be saved", () => {
    expect(draftProblem({ ...NEW_CONNECTION, endpoint: "a:1" })).toBeUndefined();
    expect(draftProblem({ ...NEW_CONNECTION, endpoint: "a:1", protocol: "SASL_TLS" })).toContain("user name");
    expect(draftProblem({ ...NEW_CONNECTION, endpoint: "a:1", attempts: "9" })).toContain("range");
  });

  it("is said in words of the command line, as far as it has them", () => {
    const plain = { ...NEW_CONNECTION, endpoint: "a:1" };
    expect(connectionWords(plain, true)).toEqual(["--bootstrap", "a:1"]);
    // What is not given stays as it was, so a change says all.
    expect(connectionWords(plain, false)).toContain("PLAINTEXT");
    const sasl = { ...plain, protocol: "SASL_PLAINTEXT" as const, username: "ann", password: "secret" };
    expect(connectionWords(sasl, true)?.join(" ")).toBe(
      "--bootstrap a:1 --security-protocol SASL_PLAINTEXT --sasl-username ann",
    );
    expect(secretsOf(sasl)).toEqual([{ field: "sasl_password", variable: "PEGEL_SASL_PASSWORD" }]);
    expect(secretsOf({ ...sasl, passwordChoice: "keep" })).toEqual([]);
    expect(connectionWords({ ...plain, allowedHosts: "a" }, true)).toBeUndefined();
    expect(connectionWords({ ...plain, passwordChoice: "remove" }, false)).toBeUndefined();
  });
});
