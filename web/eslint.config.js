// What tsc does not see: the rules of hooks, promises nobody waits for, and markup that a screen reader cannot use.
import js from "@eslint/js";
import a11y from "eslint-plugin-jsx-a11y";
import hooks from "eslint-plugin-react-hooks";
import { defineConfig, globalIgnores } from "eslint/config";
import globals from "globals";
import typescript from "typescript-eslint";

export default defineConfig(
  globalIgnores(["node_modules/", "src/api/schema.ts"]),
  {
    files: ["**/*.{ts,tsx}"],
    extends: [js.configs.recommended, typescript.configs.recommendedTypeChecked, hooks.configs.flat.recommended, a11y.flatConfigs.recommended],
    languageOptions: { globals: globals.browser, parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    // A part of the page that scrolls has to be reached by keys.
    rules: { "jsx-a11y/no-noninteractive-tabindex": ["error", { tags: [], roles: ["group", "region", "tabpanel"] }] },
    linterOptions: { reportUnusedDisableDirectives: "error" },
  },
);
