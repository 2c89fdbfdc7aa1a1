// Two scripts and two styles, under fixed names: `page` stands in every report, `app` is what a server serves. crates/pages takes
// them into the binary. `emptyOutDir` stays off because the directory itself is in the repository, so that Cargo can watch it.
import { defineConfig } from "vite";

const ENTRIES: Record<string, string> = { page: "src/page.ts", app: "src/app/app.ts" };

export default defineConfig(({ mode }) => ({
  build: {
    outDir: "dist",
    emptyOutDir: false,
    target: "es2022",
    cssCodeSplit: false,
    lib: { entry: ENTRIES[mode] ?? "src/page.ts", name: "loadline", formats: ["iife"], fileName: () => `${mode}.js`, cssFileName: mode },
  },
}));
