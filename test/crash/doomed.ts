/** A process that performs operations side by side, and kills itself as soon as every one of them stands at its crash point. */
import { type Doom, DOOM_VARIABLE, DOOMED } from './crash-points.js';
import { startDoomed } from './machine.js';
import { operationOf } from './operations.js';
import { openWatched, runTo } from './statements.js';

const { url, crashes, withoutTransactions } = JSON.parse(process.env[DOOM_VARIABLE] ?? '') as Doom;
const database = openWatched(url, DOOMED, withoutTransactions ? /^(BEGIN|COMMIT|ROLLBACK)$/ : undefined);
const performed = crashes.map(async ({ operation, stage, point }) => {
  const perform = await operationOf(operation).prepare(startDoomed(database), stage);
  return () => runTo(point, perform);
});
await Promise.all((await Promise.all(performed)).map((run) => run()));
process.kill(process.pid, 'SIGKILL');
