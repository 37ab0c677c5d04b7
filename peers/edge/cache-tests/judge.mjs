// Judges the results of http-cache-tests by the suite's own rules, and prints the account as JSON.
//
//   node judge.mjs SUITE RESULTS.json
//
// SUITE is the folder of the npm package, or of a later checkout, which keeps its judge elsewhere.
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [suite, file] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(resolve(suite, path)).href);
const later = "test-engine/lib/results.mjs";
const { determineTestResult } = await load(existsSync(resolve(suite, later)) ? later : "lib/display.mjs");
const { default: suites } = await load("tests/index.mjs");

const results = JSON.parse(readFileSync(file, "utf8"));
const required = (test) => (test.kind === undefined || test.kind === "required") && test.browser_only !== true;
// The third of what a verdict is drawn with is for a terminal.
const pass = "✅";

const tests = suites.flatMap((suite) => suite.tests.filter(required).map((test) => ({ suite, test })));
const failed = [];
for (const { suite, test } of tests) {
  const verdict = determineTestResult(suites, test.id, results)[2];
  if (verdict === pass) continue;
  const result = results[test.id];
  failed.push({
    id: test.id,
    name: `${suite.name}: ${test.name}`,
    verdict,
    why: Array.isArray(result) ? result[1] : "",
  });
}
// Some count a test that passes although one that it depends on does not.
const alone = tests.filter(({ test }) => results[test.id] === true).length;
console.log(JSON.stringify({ required: tests.length, passed: tests.length - failed.length, alone, failed }));
