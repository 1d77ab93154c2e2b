// Which rows of the behaviour documents do specs prove? A title cites them: test('the pending question comes back [A3]', …).
// Fails on an id that no document has, and on an open row of a document that is declared finished. --open lists open rows.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';

const root = path.dirname(import.meta.dirname);
const TEST_FUNCTIONS = new Set(['describe', 'describeScaledOut', 'describeWithRedis', 'it', 'test']);
const NOT_RUN = new Set(['skip', 'todo']);
const CITATION = /\[([A-Z]\d+[a-z]?(?:\.\d+)?(?:, ?[A-Z]\d+[a-z]?(?:\.\d+)?)*)\]/g;

const documents = await readDocuments();
const citations = readCitations();
const covered = new Set(citations.map(({ id }) => id));
printTable();
if (process.argv.includes('--open')) printOpen();
const faults = [...findRepeated(), ...findUnknown(), ...findUnproven()];
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;

async function readDocuments() {
  const files = globSync('test/requirements/*.ts', { cwd: root }).sort();
  const modules = await Promise.all(files.map((file) => import(pathToFileURL(path.join(root, file)).href)));
  return modules.flatMap((module) => Object.values(module));
}

function readCitations() {
  const files = globSync(
    ['libs/*/src/**', 'apps/*/src/**', 'test/**'].flatMap((place) => [`${place}/*.spec.ts`, `${place}/*.deep.ts`]),
    {
      cwd: root,
    },
  );
  return [...new Set(files)].flatMap((file) =>
    titlesOf(file).flatMap(({ title, line }) =>
      [...title.matchAll(CITATION)].flatMap(([, ids]) => ids.split(/, ?/).map((id) => ({ id, where: `${file}:${line}` }))),
    ),
  );
}

/** The first argument of each call of a test function, `test.each(…)(…)` included. */
function titlesOf(file) {
  const source = ts.createSourceFile(file, readFileSync(path.join(root, file), 'utf8'), ts.ScriptTarget.Latest);
  const titles = [];
  const visit = (node) => {
    if (ts.isCallExpression(node) && isTestFunction(node.expression) && node.arguments.length > 0) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      titles.push({ title: node.arguments[0].getText(source), line: line + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;
}

function isTestFunction(expression) {
  if (ts.isIdentifier(expression)) return TEST_FUNCTIONS.has(expression.text);
  if (ts.isPropertyAccessExpression(expression)) return !NOT_RUN.has(expression.name.text) && isTestFunction(expression.expression);
  if (ts.isTaggedTemplateExpression(expression)) return isTestFunction(expression.tag);
  return ts.isCallExpression(expression) && isTestFunction(expression.expression);
}

function openRows({ rows }) {
  return rows.filter(({ id }) => !covered.has(id));
}

function printTable() {
  const print = (...cells) => console.log(cells.map((cell, index) => (index === 0 ? cell.padEnd(26) : String(cell).padStart(8))).join(''));
  print('document', 'rows', 'covered', 'open', 'finished');
  for (const document of documents) {
    const open = openRows(document).length;
    print(document.document, document.rows.length, document.rows.length - open, open, document.finished ? 'yes' : 'no');
  }
}

function printOpen() {
  for (const document of documents) {
    console.log(`\n${document.document}`);
    for (const { id, behaviour } of openRows(document)) console.log(`  ${id.padEnd(6)} ${behaviour}`);
  }
}

function findRepeated() {
  const ids = documents.flatMap(({ rows }) => rows.map(({ id }) => id));
  return [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))].map((id) => `${id} stands in the documents twice`);
}

function findUnknown() {
  const known = new Set(documents.flatMap(({ rows }) => rows.map(({ id }) => id)));
  return citations.filter(({ id }) => !known.has(id)).map(({ id, where }) => `${where} cites ${id}, which no document has`);
}

function findUnproven() {
  const finished = documents.filter((document) => document.finished);
  return finished.flatMap((document) => openRows(document).map(({ id }) => `${document.document} is finished, but nothing proves ${id}`));
}
