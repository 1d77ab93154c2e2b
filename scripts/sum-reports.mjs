// The last line of CI: sum-reports.mjs FAILED_STEPS REPORT… adds up Jest's JSON reports. Exits 1 on any failure.
import { existsSync, readFileSync } from 'node:fs';

const [failedSteps, ...files] = process.argv.slice(2);
const reports = files.map(read);

const sum = (count) => reports.reduce((total, report) => total + count(report), 0);
const passed = sum((report) => report.numPassedTests);
const failed = sum((report) => report.numFailedTests + report.numRuntimeErrorTestSuites);

// A step that failed without a failed test, a check for instance, counts as one failure.
const total = Number(failedSteps) > 0 ? Math.max(failed, 1) : failed;
console.log(`${passed} passed, ${total} failed`);
process.exitCode = total > 0 ? 1 : 0;

function read(file) {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  return { numPassedTests: 0, numFailedTests: 0, numRuntimeErrorTestSuites: 0 };
}
