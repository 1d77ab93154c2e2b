import { z } from 'zod';
import { Id, Instant } from './common.js';

export const InvariantReport = z
  .object({
    checked_at: Instant,
    ok: z.boolean().meta({ description: 'No invariant is offended.' }),
    invariants: z.array(
      z.object({
        name: z.string(),
        always: z
          .boolean()
          .meta({ description: 'false: recovery may be under way for a row that is found once; found again, it offends.' }),
        rows: z.array(z.record(z.string(), z.unknown())).meta({ description: 'Ids of offending rows; at most 100.' }),
      }),
    ),
  })
  .meta({ id: 'InvariantReport' });
export type InvariantReport = z.infer<typeof InvariantReport>;

/** A folder of a machine that holds task folders, and whether anybody reaches it (operations.md, Task folders on several machines). */
const WorkspaceRoot = z
  .object({
    id: Id.meta({ description: 'As its marker file names it.' }),
    host: z.string().meta({ description: 'Machine of the worker that registered it last.' }),
    path: z.string().meta({ description: 'Where that worker has it.' }),
    workers: z.int().meta({ description: 'Live workers that reach it. With none, nothing in it moves.' }),
    waiting_sessions: z.int().meta({ description: 'Sessions in it that could run and that nobody runs.' }),
    created_at: Instant,
    seen_at: Instant.meta({ description: 'When a worker registered it last.' }),
  })
  .meta({ id: 'WorkspaceRoot' });
export type WorkspaceRoot = z.infer<typeof WorkspaceRoot>;

export const WorkspaceRoots = z.object({ items: z.array(WorkspaceRoot) }).meta({ id: 'WorkspaceRoots' });
export type WorkspaceRoots = z.infer<typeof WorkspaceRoots>;
