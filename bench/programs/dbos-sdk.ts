/** The part of `@dbos-inc/dbos-sdk` 5 that the contestant uses; the package is installed only when a bench runs. */
import { importPeer } from '../peers/import-peer.js';

export interface DbosSdk {
  readonly DBOS: {
    setConfig(config: { readonly name: string; readonly systemDatabaseUrl: string; readonly logLevel: string }): void;
    launch(): Promise<void>;
    shutdown(): Promise<void>;
    registerQueue(name: string): Promise<unknown>;
    registerWorkflow<Args extends unknown[]>(run: (...args: Args) => Promise<void>, options: { readonly name: string }): Workflow<Args>;
    startWorkflow<Args extends unknown[]>(workflow: Workflow<Args>, options?: { readonly workflowID: string }): Workflow<Args>;
    runStep<T>(step: () => Promise<T>, options: { readonly name: string }): Promise<T>;
    send(workflowId: string, text: string, topic: string): Promise<void>;
    recv(topic: string, options: { readonly timeoutSeconds: number }): Promise<string | null>;
    readonly workflowID: string | undefined;
  };
  readonly DBOSClient: {
    create(options: { readonly systemDatabaseUrl: string; readonly applicationName: string }): Promise<DbosClient>;
  };
}

export interface DbosClient {
  enqueue(work: { readonly queueName: string; readonly workflowName: string; readonly workflowID: string }): Promise<unknown>;
  send(workflowId: string, text: string, topic: string): Promise<void>;
  destroy(): Promise<void>;
}

type Workflow<Args extends unknown[]> = (...args: Args) => Promise<unknown>;

export async function importDbos(): Promise<DbosSdk> {
  return (await importPeer('@dbos-inc/dbos-sdk')) as DbosSdk;
}
