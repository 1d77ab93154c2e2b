/** The durable loops that are compared, each made once per process on a database of its own. */
import pg from 'pg';
import { importPeer } from '../peers/import-peer.js';
import { runBareHttpLoop } from './bare-http-loop.js';
import { createLangGraphLoop } from './langgraph-loop.js';
import type { RunLoop } from './loop-runners.js';
import { openTurns } from './our-turns.js';

/** `ours with events`: the events that its barriers tell get their positions meanwhile, as in a process that serves them. */
export type JournaledName = 'ours' | 'ours with events' | 'bare' | 'LangGraph';

export interface JournaledLoop {
  /** Makes what so many runs need beforehand and no loop does: tasks, of a product that has them. */
  prepare?(runs: number): Promise<void>;
  readonly run: RunLoop;
  close(): Promise<unknown>;
}

interface Saver {
  readonly PostgresSaver: { fromConnString(url: string): { setup(): Promise<void>; end(): Promise<void> } };
}

export async function createJournaledLoop(name: JournaledName, modelUrl: string): Promise<JournaledLoop> {
  switch (name) {
    case 'ours':
    case 'ours with events':
      return openTurns(modelUrl, { events: name === 'ours with events' });
    case 'bare':
      return createBareLoop(modelUrl);
    case 'LangGraph':
      return createLangGraph(modelUrl);
  }
}

/** One insert and one commit per round. */
async function createBareLoop(modelUrl: string): Promise<JournaledLoop> {
  const client = new pg.Client(process.env.DATABASE_URL);
  await client.connect();
  await client.query('CREATE TABLE step (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, message text NOT NULL)');
  const text = 'INSERT INTO step (message) SELECT unnest($1::text[])';
  const keep = (messages: readonly object[]) =>
    client.query({ name: 'keep', text, values: [messages.map((message) => JSON.stringify(message))] });
  return { run: (model, tool) => runBareHttpLoop(modelUrl, model, tool, keep), close: () => client.end() };
}

async function createLangGraph(modelUrl: string): Promise<JournaledLoop> {
  const { PostgresSaver } = (await importPeer('@langchain/langgraph-checkpoint-postgres')) as Saver;
  const saver = PostgresSaver.fromConnString(process.env.DATABASE_URL ?? '');
  await saver.setup();
  return { run: await createLangGraphLoop(modelUrl, saver), close: () => saver.end() };
}
