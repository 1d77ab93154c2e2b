import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createToolRegistry, validateArguments } from '@echelon/agent-loop';
import { type Contract, deriveContract, EXTERNAL_CONTRACT, RUNTIME_KINDS, type SessionKind, withoutTurnEnding } from '@echelon/domain';
import { createWorkspaceTools } from '@echelon/workspace-tools';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createToolCatalogue } from './catalogue.js';
import type { AgentToolContext } from './tool-context.js';
import type { ToolServices } from './tool-services.js';

const GOLDEN = path.join(import.meta.dirname, '../../../test/golden/tools');
const KINDS: readonly SessionKind[] = ['task', 'config', 'quick_chat', 'utility'];

/** Nothing is called here: only what tools say of themselves. */
const catalogue = createToolCatalogue({ services: {} as ToolServices, workspaceTools: createWorkspaceTools<AgentToolContext>() });

const cells: readonly (readonly [string, Contract])[] = [
  ...[false, true].flatMap((autopilot) =>
    [false, true].flatMap((hasParent) =>
      KINDS.flatMap((sessionKind) =>
        RUNTIME_KINDS.map((runtime): readonly [string, Contract] => [
          [autopilot ? 'autopilot' : 'normal', hasParent ? 'with a parent' : 'without a parent', sessionKind, runtime].join(', '),
          deriveContract({ autopilot, hasParent, sessionKind, runtime }),
        ]),
      ),
    ),
  ),
  ['operator token over MCP', EXTERNAL_CONTRACT],
];
const everyTool = [
  ...new Map(cells.flatMap(([, contract]) => catalogue.toolsFor(contract).map((tool) => [tool.name, tool] as const))).values(),
];

function namesFor(contract: Contract): readonly string[] {
  return catalogue.toolsFor(contract).map(({ name }) => name);
}

/** Compares with the golden file; `ECHELON_WRITE_GOLDEN=1` writes it anew, for a change that is meant. */
function expectGolden(name: string, actual: object): void {
  const file = path.join(GOLDEN, `${name}.json`);
  if (process.env.ECHELON_WRITE_GOLDEN) writeFileSync(file, `${JSON.stringify(actual, null, 2)}\n`);
  if (!existsSync(file)) throw new Error(`no golden file of ${name}`);
  expect(JSON.parse(JSON.stringify(actual))).toEqual(JSON.parse(readFileSync(file, 'utf8')));
}

describe('what a contract offers', () => {
  test('every cell offers exactly the tools of its golden list [D1]', () => {
    expectGolden('cells', Object.fromEntries(cells.map(([cell, contract]) => [cell, namesFor(contract)])));
  });

  test.each(cells)('%s: never both question tools [D1]', (_, contract) => {
    const questions = namesFor(contract).filter((name) => name.startsWith('ask_'));
    expect(questions.length).toBeLessThanOrEqual(1);
  });

  test('the other task tools do not depend on autopilot or parent [D1]', () => {
    const others = [false, true].flatMap((autopilot) =>
      [false, true].map((hasParent) =>
        namesFor(deriveContract({ autopilot, hasParent, sessionKind: 'task', runtime: 'loop' })).filter((name) => !name.startsWith('ask_')),
      ),
    );
    expect(new Set(others.map((names) => names.join())).size).toBe(1);
  });

  test.each(cells)('%s: a subagent has neither question tool nor step_complete_kandev [D9]', (_, contract) => {
    const ending = ['ask_user_question_kandev', 'ask_parent_question_kandev', 'step_complete_kandev'];
    expect(namesFor(withoutTurnEnding(contract)).filter((name) => ending.includes(name))).toEqual([]);
  });

  test('a process without task folders offers no workspace tools', () => {
    const served = createToolCatalogue({ services: {} as ToolServices });
    const contract = deriveContract({ autopilot: false, hasParent: false, sessionKind: 'task', runtime: 'loop' });
    expect(served.toolsFor(contract).map(({ name }) => name)).toEqual(
      namesFor({ ...contract, capabilities: contract.capabilities.filter((one) => one !== 'workspace') }),
    );
  });
});

describe('what models read', () => {
  test.each(everyTool.map((tool) => [tool.name, tool] as const))('%s is as its golden file says', (name, tool) => {
    const [specification] = createToolRegistry([tool]).specifications;
    const { title, effect, idempotent, endsTurn = false, polling = false, concurrencySafe } = tool;
    const behaviour = {
      effect,
      idempotent,
      endsTurn,
      polling,
      concurrencySafe: typeof concurrencySafe === 'function' ? 'by input' : concurrencySafe,
    };
    expectGolden(name, { title, ...specification, behaviour });
  });

  test.each(cells)('%s: no text of a tool names a tool that is not offered', (_, contract) => {
    const offered = catalogue.toolsFor(contract);
    const missing = everyTool.map(({ name }) => name).filter((name) => !offered.some((tool) => tool.name === name));
    const texts = createToolRegistry(offered).specifications.map((specification) => JSON.stringify(specification));
    const words = new Set(texts.flatMap((text) => text.match(/\w+/g) ?? []));
    expect(missing.filter((name) => words.has(name))).toEqual([]);
  });

  test.each(everyTool.map((tool) => [tool.name, tool] as const))(
    '%s has a description of at most 1,024 bytes and describes every argument',
    (_, tool) => {
      expect(Buffer.byteLength(tool.description)).toBeLessThanOrEqual(1024);
      const [specification] = createToolRegistry([tool]).specifications;
      const properties = Object.entries((specification?.parameters['properties'] ?? {}) as Record<string, { description?: string }>);
      expect(properties.filter(([, { description }]) => !description).map(([name]) => name)).toEqual([]);
    },
  );

  test('every tool of ours is idempotent under its call id, and reads are safe beside each other', () => {
    const ours = everyTool.filter(({ name }) => name.endsWith('_kandev'));
    expect(ours.filter(({ idempotent }) => !idempotent)).toEqual([]);
    expect(ours.filter(({ effect, concurrencySafe }) => (effect === 'read') !== concurrencySafe)).toEqual([]);
  });
});

describe('arguments that a tool does not have', () => {
  const name = fc.stringMatching(/^x_[a-z]{1,20}$/);
  const secret = fc.stringMatching(/^[A-Z0-9]{24}$/);

  test.each(everyTool.map((tool) => [tool.name, tool] as const))('%s refuses them by tool, path and rule, without the value', (_, tool) => {
    fc.assert(
      fc.property(name, secret, (argument, value) => {
        const result = validateArguments(tool, JSON.stringify({ [argument]: value }));
        expect(result.valid).toBe(false);
        const text = result.valid ? '' : result.text;
        expect(text).toContain(tool.name);
        expect(text).toContain(`- ${argument}: unknown argument`);
        expect(text).not.toContain(value);
      }),
      { numRuns: 20 },
    );
  });

  test.each(['parent_task_id', 'parent_id', 'task_id', 'session_id', 'sender_task_id'])('an ask cannot name %s [A6]', (argument) => {
    const ask = { questions: [{ prompt: 'Which database?' }] };
    for (const tool of ['ask_parent_question_kandev', 'ask_user_question_kandev'].map((one) => catalogue.find(one))) {
      const outside = validateArguments(tool!, JSON.stringify({ ...ask, [argument]: 'someone' }));
      const inside = validateArguments(tool!, JSON.stringify({ questions: [{ prompt: 'Which?', [argument]: 'someone' }] }));
      expect(outside).toEqual({ valid: false, text: `Invalid arguments for ${tool!.name}:\n- ${argument}: unknown argument` });
      expect(inside).toEqual({ valid: false, text: `Invalid arguments for ${tool!.name}:\n- questions[0].${argument}: unknown argument` });
    }
  });

  test('an update that names autopilot is refused with the field', () => {
    const update = catalogue.find('update_task_kandev');
    const result = validateArguments(update!, JSON.stringify({ task_id: crypto.randomUUID(), title: 'New', autopilot: true }));
    expect(result).toEqual({ valid: false, text: 'Invalid arguments for update_task_kandev:\n- autopilot: unknown argument' });
  });
});
