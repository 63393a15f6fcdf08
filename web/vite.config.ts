import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { bootScript } from "./build/boot-script.ts";
import { brotli } from "./build/brotli.ts";

/** Parts of this application that only pages after the first one draw. */
const LATER =
  /[\\/](ui[\\/](fields|side-panel|tabs|stat|code-block|key-value|skeleton|visible-text|text-with-times)\b|lib[\\/](visible|json|scope-text|count)\b|api[\\/](catalog|access|envelope)\b|components[\\/](use-answer|pager|use-typed|use-links)\b)/;

const isPartOfFirstPage = (id: string) => /src[\\/](lib|api|ui|components)[\\/]/.test(id) && !LATER.test(id);

// `--mode gallery` builds the same console plus the gallery of components (for looking and for the browser tests); the
// product build (mode "production") does not contain it.
export default defineConfig(({ mode }) => ({
  plugins: [react(), bootScript(), brotli()],
  // Asset addresses are relative to <base href>, which the server rewrites to its base path.
  base: "./",
  resolve: { tsconfigPaths: true },
  build: {
    outDir: mode === "gallery" ? "dist-gallery" : "dist",
    target: "es2023",
    // No data: addresses, so that the content security policy needs none.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 600,
    license: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Few files for the first page. What only some pages use (choice fields, long lists, dialogs) stays apart.
          groups: [
            {
              name: "react",
              test: /node_modules[\\/](react|react-dom|scheduler|use-sync-external-store)[\\/]/,
              priority: 3,
            },
            { name: "data", test: /node_modules[\\/](@tanstack[\\/](?!.*virtual)|openapi-|zod)/, priority: 3 },
            // Parts that at least three pages share, but for those that no list of clusters needs: they come with a later page.
            // The first group takes along what it imports, so the parts of the first page come first.
            { name: "parts", test: isPartOfFirstPage, minShareCount: 3, priority: 2 },
            { name: "more", test: /src[\\/](lib|api|ui|components)[\\/]/, minShareCount: 3, priority: 1 },
          ],
        },
      },
    },
  },
  server: { host: "127.0.0.1", proxy: { "/api": process.env.PEGEL_DEV_SERVER ?? "http://127.0.0.1:8420" } },
  test: {
    restoreMocks: true,
    projects: [
      { extends: true, test: { name: "pure", environment: "node", include: ["src/lib/**/*.test.ts"] } },
      {
        extends: true,
        test: {
          name: "page",
          environment: "happy-dom",
          include: ["src/**/*.test.{ts,tsx}"],
          exclude: ["src/lib/**"],
          setupFiles: ["src/test/setup.ts"],
        },
      },
    ],
  },
}));
