import { PassThrough } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { main } from '@echelon/cli';

/** Nobody listens there: whatever is wrong usage is found before anybody is asked. */
const NOWHERE = ['--url', 'http://127.0.0.1:1', '--token', 'none'];
const ID = '01a22a24-dfc3-73b2-8e05-0536619969eb';

async function run(...args: readonly string[]) {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const code = await main(['node', 'echelon', ...args], { out, err, interactive: false });
  return { code, out: String(out.read() ?? ''), err: String(err.read() ?? '') };
}

/** Every command with input that breaks its rules, and the sentence that says which. */
const WRONG: readonly [string, string][] = [
  ['task create ', 'The prompt is empty.'],
  ['task create x --title ', '--title is empty.'],
  ['task create x --parent nope', '"nope" is no task id'],
  ['task create x --profile nope', '"nope" is no profile id'],
  ['task create x --workspace nope', '"nope" is no workspace id'],
  [`task create x --blocked-by ${ID} nope`, '"nope" is no task id'],
  ['task create x --key ', '--key is empty.'],
  ['task list --limit many', '--limit is a whole number from 1 to 200, not "many".'],
  ['task list --limit 201', '--limit is a whole number from 1 to 200, not "201".'],
  ['task list --state lost', 'Allowed choices are blocked'],
  ['task show nope', '"nope" is no task id: ids are 36 characters long'],
  ['task watch nope', '"nope" is no task id'],
  ['task message nope x', '"nope" is no task id'],
  [`task message ${ID} `, 'The message is empty.'],
  [`task message ${ID} x --reply-to nope`, '"nope" is no question id'],
  ['task stop nope', '"nope" is no task id'],
  ['task spawn nope', '"nope" is no task id'],
  [`task spawn ${ID} --kind odd`, 'Allowed choices are task, quick_chat, config, utility.'],
  ['task attach nope nope', '"nope" is no task id'],
  [`task attach ${ID}`, "missing required argument 'parent'"],
  ['task detach nope', '"nope" is no task id'],
  ['task archive nope', '"nope" is no task id'],
  ['task delete nope --yes', '"nope" is no task id'],
  [`task delete ${ID}`, 'add --yes'],
  ['workspace grants nope', '"nope" is no workspace id'],
  [`workspace grant ${ID} nope`, '"nope" is no workspace id'],
  [`workspace revoke ${ID} nope`, '"nope" is no workspace id'],
  ['question cancel nope', '"nope" is no question id'],
  ['task unarchive nope', '"nope" is no task id'],
  ['task plan nope', '"nope" is no task id'],
  [`task block ${ID} --on nope`, '"nope" is no task id'],
  [`task unblock ${ID}`, "required option '--on <task>' not specified"],
  ['task create x --workflow nope', '"nope" is no workflow id'],
  ['task move nope Build', '"nope" is no task id'],
  ['workflow list --workspace nope', '"nope" is no workspace id'],
  ['workflow show nope', '"nope" is no workflow id'],
  [`workflow create x --workspace ${ID}`, 'Give the steps by --step or by --file.'],
  ['workspace list --limit 0', '--limit is a whole number'],
  ['workspace create ', 'The name is empty.'],
  ['workspace show nope', '"nope" is no workspace id'],
  ['profile list --workspace nope', '"nope" is no workspace id'],
  ['profile show nope', '"nope" is no profile id'],
  [`profile create x --workspace ${ID}`, 'Give --provider and --model'],
  [`profile create x --workspace ${ID} --runtime odd`, 'Allowed choices are loop, acp, external, passthrough.'],
  [`profile create x --workspace ${ID} --runtime acp`, 'Give --command'],
  [`profile update ${ID}`, 'Name at least one thing to change.'],
  ['profile archive nope', '"nope" is no profile id'],
  ['question list odd', 'too many arguments'],
  ['question show nope', '"nope" is no question id'],
  ['question answer nope x', '"nope" is no question id'],
  ['queue list nope', '"nope" is no session id'],
  [`queue edit ${ID} ${ID} --text x --revision new`, '--revision is a whole number from 1 on, not "new".'],
  [`queue remove ${ID} nope`, '"nope" is no queue entry id'],
  [`queue move ${ID} ${ID} --before nope`, '"nope" is no queue entry id'],
  ['queue pause nope', '"nope" is no session id'],
  ['queue resume nope', '"nope" is no session id'],
  ['notification list odd', 'too many arguments'],
  ['notification acknowledge nope', '"nope" is no notification id'],
  ['token issue --expires soon', '--expires is a whole number'],
  [`token issue --task ${ID} --session ${ID}`, 'Give --task or --session, not both.'],
  ['token list odd', 'too many arguments'],
  ['token revoke nope', '"nope" is no token id'],
  ['connect netscape', 'Allowed choices are claude-code'],
  ['connect codex --task nope', '"nope" is no task id'],
  ['acp --mode odd', 'Allowed choices are ask, accept_edits, plan, full_access.'],
  ['chat --mode odd', 'Allowed choices are ask, accept_edits, plan, full_access.'],
  ['acp --provider scripted --deny ', '"" is no rule: write a tool, or tool:pattern.'],
  ['acp --provider scripted --deny wipe_disk', 'There is no tool "wipe_disk" to deny: there are read_file,'],
  ['run -p x --max-turns 0', '--max-turns is a whole number from 1 on, not "0".'],
  ['up odd', 'too many arguments'],
  ['demo odd', 'too many arguments'],
  ['doctor odd', 'too many arguments'],
  ['restore odd', 'too many arguments'],
  ['tsk list', "unknown command 'tsk' (Did you mean task?)"],
  ['task lsit', "unknown command 'lsit' (Did you mean list?)"],
  ['task list --stat ready', "unknown option '--stat' (Did you mean --state?)"],
  ['task', 'A command is missing.'],
  ['', 'A command is missing.'],
];

/** Names of the commands that a help text lists. */
async function listCommands(...path: readonly string[]): Promise<readonly string[]> {
  const { out } = await run(...path, '--help');
  const [, listed = ''] = out.split('Commands:\n');
  const names = [...listed.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name!).filter((name) => name !== 'help');
  const below = await Promise.all(names.map((name) => listCommands(...path, name)));
  return names.length === 0 ? [path.join(' ')] : below.flat();
}

describe('wrong usage', () => {
  test.each(WRONG)('%s', async (line, sentence) => {
    const args = line === '' ? [] : line.split(' ');
    const plain = await run(...NOWHERE, ...args);
    expect(plain).toMatchObject({ code: 2, out: '', err: expect.stringContaining(sentence) as unknown });
    const json = await run(...NOWHERE, ...args, '--json');
    expect(json).toMatchObject({ code: 2, out: '' });
    expect(JSON.parse(json.err)).toEqual({ error: expect.stringContaining(sentence) as unknown, code: null, exit_code: 2 });
  });

  test('is tried with every command that there is', async () => {
    const tried = (command: string) => WRONG.some(([line]) => `${line} `.startsWith(`${command} `));
    expect((await listCommands()).filter((command) => !tried(command))).toEqual([]);
  });

  test('an address that is none is told as that', async () => {
    expect(await run('--url', 'nowhere', '--token', 'x', 'task', 'list')).toMatchObject({
      code: 2,
      err: expect.stringContaining('http://') as unknown,
    });
  });
});

test('a server that nobody runs is told as JSON, too', async () => {
  const failed = await run(...NOWHERE, 'task', 'show', ID, '--json');
  expect(failed).toMatchObject({ code: 3, out: '' });
  expect(JSON.parse(failed.err)).toMatchObject({ code: null, exit_code: 3 });
});
