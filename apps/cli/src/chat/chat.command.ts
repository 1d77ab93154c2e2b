/** `echelon chat`: an agent in this process, with a person at the terminal (docs/chat.md). */
import { AgentSession, SessionStore } from '@echelon/agent-session';
import type { Command } from 'commander';
import { usage } from '../arguments.js';
import { CommandError, EXIT } from '../exit-code.js';
import { addLocalOptions, type LocalOptions, type LocalSetup, openLocalSetup } from '../local/local-options.js';
import type { Terminal } from '../terminal.js';
import { Chat } from './chat.js';

interface ChatCommandOptions extends LocalOptions {
  /** An id, or the last session of the folder. */
  readonly resume?: string | true;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export function addChatCommand(program: Command, terminal: Terminal): void {
  const command = program.command('chat').description('talk with an agent in this terminal, on a folder, without a server');
  addLocalOptions(command)
    .option('--resume [session]', 'go on with a session: the one named, or the folder’s last')
    .action((_options: unknown, invoked: Command) => chatCommand(terminal, invoked.optsWithGlobals()));
}

async function chatCommand(terminal: Terminal, options: ChatCommandOptions): Promise<void> {
  if (!terminal.interactive || process.stdin.isTTY !== true)
    throw usage('A chat needs a terminal, and stdin or stdout is none: `echelon run` is for programs and pipes.');
  const setup = await openLocalSetup(options);
  try {
    const store = SessionStore.open(setup.sessionsFolder);
    try {
      await talk(terminal, await openChat(store, setup, options.resume));
    } finally {
      store.close();
    }
  } finally {
    await setup.close();
  }
}

async function talk(terminal: Terminal, chat: Chat): Promise<void> {
  let isEnded = false;
  const close = onEnd(terminal, () => {
    isEnded = true;
    void chat.leave();
  });
  try {
    chooseRendering();
    const { showChat } = await import('./show-chat.js');
    await showChat(chat);
  } finally {
    close();
  }
  if (isEnded) throw new CommandError('', EXIT.interrupted);
}

/** Tells when this process is asked to end, or its terminal is gone. Ink ends the process itself where no listener stays. */
function onEnd({ out }: Terminal, end: () => void): () => void {
  for (const name of SIGNALS) process.on(name, end);
  out.on('error', end);
  return () => {
    for (const name of SIGNALS) process.off(name, end);
  };
}

/** What React and the library of colours read when they are loaded. */
function chooseRendering(): void {
  process.env.NODE_ENV ??= 'production';
  if (process.env.NO_COLOR) process.env.FORCE_COLOR = '0';
}

async function openChat(store: SessionStore, setup: LocalSetup, resume: ChatCommandOptions['resume']): Promise<Chat> {
  const { settings, limits, modelName } = setup;
  const session = await openSession(store, setup, resume);
  return new Chat({
    session,
    createSession: () => AgentSession.create(store, session.folder, settings),
    forget: (id) => store.delete(id),
    modelName,
    limits,
  });
}

async function openSession(
  store: SessionStore,
  { folder, settings }: LocalSetup,
  resume: ChatCommandOptions['resume'],
): Promise<AgentSession> {
  if (resume === undefined) return AgentSession.create(store, folder, settings);
  const id = resume === true ? store.findLatest(folder)?.id : resume;
  if (id === undefined) throw usage(`There is no session of the folder ${folder} yet.`);
  return AgentSession.open(store, id, settings);
}
