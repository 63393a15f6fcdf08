// The demo that the tests use: where its server is, who may sign in, and its processes.
import { spawn } from "node:child_process";
import { openSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

interface DemoRecord {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly token: string;
  readonly bootstrap: string;
  readonly security_protocol: "PLAINTEXT" | "SASL_PLAINTEXT";
  readonly users: readonly { readonly name: string; readonly password: string }[];
  readonly servers: readonly { readonly name: string; readonly pid: number }[];
}

/** A variable that whoever starts the tests has to set. */
export function given(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`set ${name}; \`./x bench console\` does`);
  return value;
}

/** The demo in the folder that PEGEL_DEMO names. */
export function theDemo(): DemoRecord {
  return JSON.parse(readFileSync(join(given("PEGEL_DEMO"), "demo.json"), "utf8")) as DemoRecord;
}

export interface Person {
  readonly name: string;
  readonly password: string;
}

export function admin({ username, password }: DemoRecord = theDemo()): Person {
  return { name: username, password };
}

/** Asks the demo's server as its admin. */
export async function api<T>(method: string, path: string, body?: unknown): Promise<T> {
  const { url, token } = theDemo();
  return send<T>(url, method, path, body, { Authorization: `Bearer ${token}` });
}

/** Makes a user with the grants of the role, who has chosen a password already. */
export async function newPerson(role: "viewer" | "editor" | "admin"): Promise<Person> {
  const { url } = theDemo();
  const name = `walk-${role}-${Date.now().toString(36)}`;
  const made = await api<{ password: string }>("POST", "/users", {
    name,
    display_name: `Walk ${role}`,
    role,
    grants: null,
    scope: "all",
  });
  const password = `${made.password}-changed`;
  const login = await fetch(new URL("api/v1/session", url), {
    method: "POST",
    headers: { "Content-Type": "application/json", Origin: new URL(url).origin },
    body: JSON.stringify({ name, password: made.password }),
  });
  const cookie = login.headers.getSetCookie().map((line) => line.split(";")[0] ?? "");
  const change = { current_password: made.password, new_password: password };
  await send(url, "POST", "/account/password", change, { Cookie: cookie.join("; "), Origin: new URL(url).origin });
  return { name, password };
}

async function send<T>(url: string, method: string, path: string, body: unknown, headers: Record<string, string>) {
  const answer = await fetch(new URL(`api/v1${path}`, url), {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

/** A process of the demo that can be killed and started again as it was. */
export class DemoProcess {
  readonly #log: string;
  #pid: number;
  #command: readonly string[] = [];
  #folder = "";
  #environment: Record<string, string> = {};
  #isOwn = false;

  constructor(name: string) {
    this.#log = join(given("PEGEL_DEMO"), `again-${name}.log`);
    const pid = (JSON.parse(readFileSync(join(given("PEGEL_DEMO"), "pids", `${name}.pid`), "utf8")) as { pid: number })
      .pid;
    this.#pid = pid;
  }

  /** Ends it as a loss of power does. */
  kill(): void {
    const of = (file: string) => readFileSync(`/proc/${this.#pid}/${file}`, "utf8").split("\0").filter(Boolean);
    this.#command = of("cmdline");
    this.#folder = readlinkSync(`/proc/${this.#pid}/cwd`);
    const entries = of("environ").map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]);
    this.#environment = Object.fromEntries(entries) as Record<string, string>;
    process.kill(this.#pid, "SIGKILL");
    this.#isOwn = false;
  }

  /** Starts it again, by the same words but for those that are replaced. */
  start(replaced: Readonly<Record<string, string>> = {}): void {
    const [program = "", ...words] = this.#command.map((word) => replaced[word] ?? word);
    const log = openSync(this.#log, "a");
    const child = spawn(program, words, {
      cwd: this.#folder,
      env: this.#environment,
      stdio: ["ignore", log, log],
    });
    if (child.pid === undefined) throw new Error(`${program} does not start`);
    this.#pid = child.pid;
    this.#isOwn = true;
    child.unref();
  }

  /** Ends it if these tests started it: nobody else knows of it. */
  endIfOwn(): void {
    if (this.#isOwn) process.kill(this.#pid, "SIGKILL");
  }
}
