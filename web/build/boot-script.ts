// Puts src/boot.js into the head as a classic script file of its own: it runs before the first paint (no flash of the
// wrong theme) and needs no inline script, so the policy `script-src 'self'` stays whole.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const SOURCE = fileURLToPath(new URL("../src/boot.js", import.meta.url));

export function bootScript(): Plugin {
  let fileName: string | undefined;
  let reference: string | undefined;
  return {
    name: "pegel-boot-script",
    buildStart() {
      if (this.environment.mode !== "build") return;
      this.addWatchFile(SOURCE);
      reference = this.emitFile({
        type: "asset",
        name: "boot.js",
        source: readFileSync(SOURCE, "utf8").replace(/^\s*\/\/.*\n/gm, ""),
      });
    },
    transformIndexHtml: {
      order: "post",
      handler(html, context) {
        if (context.bundle) {
          const asset = Object.values(context.bundle).find(
            (item) => item.type === "asset" && item.names.includes("boot.js"),
          );
          fileName = asset?.fileName;
          if (fileName === undefined || reference === undefined) throw new Error("the boot script was not emitted");
        }
        const src = fileName === undefined ? "./src/boot.js" : `./${fileName}`;
        // After <base>, which decides what "./" means, and before everything else.
        return html.replace(/(<base [^>]*>)/, `$1\n    <script src="${src}"></script>`);
      },
    },
  };
}
