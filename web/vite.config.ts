import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// Built into the Python package, so that a plain `pip install` needs no Node.
export default defineConfig({
  plugins: [react()],
  base: "./", // the server knows where the arena stands and writes it into the page
  build: {
    outDir: "../src/imarena/web/static",
    emptyOutDir: true,
    // Nothing inline: the server's content security policy allows no data: scripts or styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
  },
  server: {
    proxy: { "/api": "http://127.0.0.1:8000", "/languages": "http://127.0.0.1:8000" },
    fs: { allow: [".."] }, // the English texts lie in the Python package, beside the other languages
  },
  test: { include: ["tests/**/*.test.ts"] },
});
