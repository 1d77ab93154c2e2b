/** What may run on an overlay: calls whose result is the same there, and that reach nothing beside it. */
import path from 'node:path';
import type { Permissions, PlannedCall, ToolResult } from '@echelon/agent-loop';
import { describeSandbox, isReadOnlyCommand } from '@echelon/workspace-tools';
import type { SessionContext, SessionTool } from '../session-tool.js';
import type { Overlay } from './overlay.js';

/** What these print is not sure to be the same in a copy: inodes, links, owners, the folder above, the order of a folder's entries. */
const TELLS_COPIES = [
  /\b(stat|df|du|find|rg)\b/,
  /\bls\s[^|]*-\w*[aAfgilnoqsU]/,
  /grep\s[^|]*(-\w*[rR]|--\w*recursive)/,
  /(^|[\s/'"=])\.\.($|[\s/'"])/,
];
const WAITS_FOR = 'the person';

export interface AheadFacts {
  readonly overlay: Pick<Overlay, 'root' | 'folder'>;
  readonly sandboxed: boolean;
}

export async function readAheadFacts(overlay: Overlay): Promise<AheadFacts> {
  const { kind } = await describeSandbox();
  return { overlay, sandboxed: kind !== 'none' };
}

/**
 * The same permissions, but the first call that somebody would be asked about, or that may not run ahead, stays open with all that
 * come after it: the loop parks there, and the turn goes on from there when it is taken over.
 */
export function stopAtAsking(permissions: Permissions<SessionContext>, facts: AheadFacts): Permissions<SessionContext> {
  let stopped = false;
  return {
    check: async (planned) => {
      const verdict = await permissions.check(planned);
      if (verdict.decision === 'deny') return verdict;
      stopped ||= verdict.decision === 'ask' || !runsAhead(planned, facts);
      return stopped ? { decision: 'ask', grant: planned.call.callId, needsInteraction: true } : verdict;
    },
    ask: () => Promise.resolve({ decision: 'open', waitsFor: WAITS_FOR }),
  };
}

/**
 * A command runs only when its text says that it reads, and in the sandbox, where the machine is read-only but for the overlay. What
 * merely keeps to the overlay is not enough: the network is open there, and what went out cannot be taken back.
 */
function runsAhead({ tool, input }: PlannedCall<SessionContext>, { overlay, sandboxed }: AheadFacts): boolean {
  if (tool.effect !== 'execute') return true;
  const { command } = input as { readonly command?: string };
  if (command === undefined || !sandboxed || !isReadOnlyCommand(command)) return false;
  return !command.includes(overlay.folder) && !TELLS_COPIES.some((pattern) => pattern.test(command));
}

/** The tools with the overlay in the folder's place: in what they are given, and in what they answer. */
export function onOverlay(tools: readonly SessionTool[], { overlay }: AheadFacts): readonly SessionTool[] {
  return tools.map((tool) => ({
    ...tool,
    execute: async (input, execution) => {
      const { report } = execution;
      const reported = report === undefined ? {} : { report: (chunk: string) => report(leave(overlay, chunk)) };
      const result = await tool.execute(enter(overlay, input), { ...execution, ...reported });
      return leaveResult(overlay, result);
    },
  }));
}

const PATHS = ['path', 'working_folder'] as const;

function enter({ folder, root }: AheadFacts['overlay'], input: unknown): unknown {
  const given = input as Readonly<Record<string, unknown>>;
  const moved = PATHS.flatMap((name): [string, string][] => {
    const value = given[name];
    return typeof value === 'string' && path.isAbsolute(value) ? [[name, moveInto(folder, root, value)]] : [];
  });
  return moved.length === 0 ? input : { ...given, ...Object.fromEntries(moved) };
}

function moveInto(folder: string, root: string, file: string): string {
  const within = path.relative(folder, file);
  return within === '..' || within.startsWith(`..${path.sep}`) ? file : path.join(root, within);
}

function leave({ folder, root }: AheadFacts['overlay'], text: string): string {
  return text.replaceAll(root, folder);
}

function leaveResult(overlay: AheadFacts['overlay'], result: ToolResult): ToolResult {
  const text = leave(overlay, result.text);
  const { structured } = result;
  const bytes = structured?.output_bytes;
  if (structured === undefined || typeof bytes !== 'number') return { ...result, text };
  const saved = Buffer.byteLength(result.text) - Buffer.byteLength(text);
  return { ...result, text, structured: { ...structured, output_bytes: bytes - saved } };
}
