// @ts-check
// Short names are those of the table that the command's tests read, too.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { shortName } from "../src/data/short.js";

/** @type {{ full: string, short: string, page?: string }[]} */
const rows = JSON.parse(readFileSync(new URL("short_names.json", import.meta.url), "utf8"));

test("short names are those of the table", () => {
  assert.ok(rows.length > 20);
  for (const { full, page } of rows) if (page !== undefined) assert.equal(shortName(full), page);
});
