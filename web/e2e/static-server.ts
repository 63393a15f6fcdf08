// Serves a built console as the product does: base path, policy headers, fallback to index.html. For browser tests of what
// needs no server behind it.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

/** Must stay what the product sends; a style or script that it forbids fails the tests. */
export const POLICY =
  "default-src 'self'; base-uri 'self'; object-src 'none'; frame-ancestors 'none'; form-action 'self'";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

export interface StaticServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function serveStatic(directory: string, basePath = "/"): Promise<StaticServer> {
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
    const inside = path.startsWith(basePath) ? normalize(path.slice(basePath.length)) : undefined;
    response.setHeader("Content-Security-Policy", POLICY);
    response.setHeader("X-Content-Type-Options", "nosniff");
    if (inside === undefined || inside.startsWith("..") || inside.startsWith("api/")) {
      response.writeHead(404).end();
      return;
    }
    const isFile = extname(inside) !== "";
    try {
      const body = await readFile(join(directory, isFile ? inside : "index.html"));
      response.setHeader("Content-Type", TYPES[isFile ? extname(inside) : ".html"] ?? "application/octet-stream");
      response.end(isFile ? body : body.toString("utf8").replace('<base href="/" />', `<base href="${basePath}" />`));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no address");
  return {
    url: `http://127.0.0.1:${address.port}${basePath}`,
    close: () => new Promise((resolve, reject) => server.close((error) => (error ? reject(error) : resolve()))),
  };
}
