import { promises as fs } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import type { Plugin } from "vite";

const compress = promisify(brotliCompress);
const TEXT = /\.(js|css|svg)$/;

/**
 * Puts a packed copy beside each asset that gets smaller by it, so that the server packs nothing while someone waits.
 * Fonts are packed already.
 */
export function brotli(): Plugin {
  return {
    name: "pegel-brotli",
    apply: "build",
    async writeBundle(options, bundle) {
      const folder = options.dir;
      if (folder === undefined) return;
      const names = Object.keys(bundle).filter((name) => TEXT.test(name));
      await Promise.all(
        names.map(async (name) => {
          const file = path.join(folder, name);
          const plain = await fs.readFile(file);
          const packed = await compress(plain, {
            params: {
              [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
              [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
            },
          });
          if (packed.length < plain.length) await fs.writeFile(`${file}.br`, packed);
        }),
      );
    },
  };
}
