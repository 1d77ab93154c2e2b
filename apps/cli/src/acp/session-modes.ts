import { RequestError, type SessionMode, type SessionModeState } from '@agentclientprotocol/sdk/unstable';
import type { PermissionMode } from '@echelon/domain';
import { PermissionModeName } from '../local/settings-file.js';

const MODES: Readonly<Record<PermissionMode, Omit<SessionMode, 'id'>>> = {
  ask: { name: 'Ask', description: 'Reads freely; asks before every change and every command.' },
  accept_edits: { name: 'Accept edits', description: 'Reads and changes files freely; asks before commands.' },
  plan: { name: 'Plan', description: 'Only reads, and says what it would do.' },
  full_access: { name: 'Full access', description: 'Changes files and runs commands without asking.' },
};

export function toModeState(mode: PermissionMode): SessionModeState {
  return { currentModeId: mode, availableModes: PermissionModeName.options.map((id) => ({ id, ...MODES[id] })) };
}

/** Throws invalid params for a mode that does not exist. */
export function parseMode(id: string): PermissionMode {
  const mode = PermissionModeName.options.find((known) => known === id);
  if (mode === undefined) throw RequestError.invalidParams({ code: 'unknown_mode', modeId: id }, `there is no mode ${JSON.stringify(id)}`);
  return mode;
}
