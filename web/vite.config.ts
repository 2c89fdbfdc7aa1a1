// One script and one style, under fixed names: crates/pages takes them into the binary. `emptyOutDir` stays off because the
// directory itself is in the repository, so that Cargo can watch it.
import { defineConfig } from "vite";

export default defineConfig({
  build: {
    outDir: "dist",
    emptyOutDir: false,
    target: "es2022",
    cssCodeSplit: false,
    lib: { entry: "src/page.ts", name: "loadline", formats: ["iife"], fileName: () => "page.js", cssFileName: "page" },
  },
});
