import { z } from 'zod';
import { Instant } from './common.js';

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
