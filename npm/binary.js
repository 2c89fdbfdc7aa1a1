// Where the binary is: in the package of this system, which npm installs beside this one.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(import.meta.url);

/** The path of the binary: LOADLINE_BINARY, the one of this system's package, or the one on the PATH. */
export function binary() {
  const named = process.env["LOADLINE_BINARY"];
  if (named) return named;
  const name = `@loadline/${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${name}/bin/loadline`);
  } catch {
    for (const folder of (process.env["PATH"] ?? "").split(":")) {
      const path = join(folder, "loadline");
      // The link that npm makes to this package is no binary.
      if (folder !== "" && !folder.includes("node_modules") && existsSync(path)) return path;
    }
  }
  throw new Error(`the package ${name} is not installed: install without --omit=optional, or name the program in LOADLINE_BINARY`);
}
