import type { ScriptedResponse, ScriptedToolCall } from '@echelon/scripted-model';

export const say = (text: string): ScriptedResponse => ({ text });
export const call = (...toolCalls: readonly ScriptedToolCall[]): ScriptedResponse => ({ toolCalls });
export const read = (id: string, path = 'a.txt'): ScriptedToolCall => ({ name: 'read_file', arguments: { path }, id });
export const write = (id: string, path = 'b.txt', content = 'b'): ScriptedToolCall => ({
  name: 'write_file',
  arguments: { path, content },
  id,
});
export const run = (id: string, command: string): ScriptedToolCall => ({ name: 'run_command', arguments: { command }, id });
export const fail = (status: number, headers: Readonly<Record<string, string>> = {}): ScriptedResponse => ({
  faults: [{ kind: 'status', status, headers }],
});
