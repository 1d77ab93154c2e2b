import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { ERRORS } from '@echelon/contracts';
import { LIMITS } from '@echelon/domain';
import { type LimitRow, listLimits, listRetention, readConfig, VARIABLES } from '@echelon/platform/start';
import { WORKSPACE_LIMITS } from '@echelon/workspace-tools';
import { format, resolveConfig } from 'prettier';

const DOCUMENT = path.resolve(import.meta.dirname, '../../../docs/limits.md');

function row({ name, value, unit, code, variable, meaning }: LimitRow): string {
  return `| ${[`\`${name}\``, value, unit, code === null ? '' : `\`${code}\``, variable ? `\`${variable}\`` : 'fixed', meaning].join(' | ')} |`;
}

function tableOf(rows: readonly LimitRow[]): string {
  return [
    '| name | default | unit | refused with | changed by | meaning |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows.map(row),
  ].join('\n');
}

test('the document lists every limit and every retention with its default, code and variable [O23, O31]', async () => {
  const config = readConfig({});
  const text = `# Limits and retention

Made from the tables in \`libs/domain/src/limits.ts\` and \`retention.ts\`; \`npm run echelon -- doctor --limits\` shows the values in force.

${tableOf(listLimits(config))}

What is kept for a time; 0 keeps for ever. Everything else is kept as long as its task, the audit for ever. The sweep deletes in small batches.

${tableOf(listRetention(config))}
`;
  const formatted = await format(text, { ...(await resolveConfig(DOCUMENT)), parser: 'markdown' });
  if (process.env['WRITE_GOLDEN']) writeFileSync(DOCUMENT, formatted);
  expect(readFileSync(DOCUMENT, 'utf8')).toBe(formatted);
});

test('a limit is refused with a code that has a meaning, or the table says what happens instead [O31]', () => {
  for (const { name, code, meaning } of listLimits(readConfig({}))) {
    if (code === null) expect([name, meaning]).toEqual([name, expect.stringMatching(/says so|wait/)]);
    else expect(Object.keys(ERRORS)).toContain(code);
  }
});

test('an operator changes what is not part of the contract [O23, O31]', () => {
  const config = readConfig({ ECHELON_LIMIT_SESSIONS_PER_TASK: '7', ECHELON_KEEP_EVENTS_DAYS: '90', ECHELON_HAND_OVER_SECONDS: '40' });
  expect(config).toMatchObject({ limits: { sessions_per_task: 7 }, retention: { events: 90, artifacts: 30 }, handOverMs: 40_000 });
  const known: readonly string[] = VARIABLES.map(({ name }) => name);
  for (const { variable } of [...listLimits(config), ...listRetention(config)]) if (variable) expect(known).toContain(variable);
  expect(known).not.toContain('ECHELON_LIMIT_TOOL_ARGUMENTS_BYTES');
});

test('what a command’s output is cut to stands in the table', () => {
  expect(WORKSPACE_LIMITS.commandOutputBytes).toBe(LIMITS.tool_output_bytes.default);
});
