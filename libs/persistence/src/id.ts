import { randomUUID } from 'node:crypto';

const SEQUENCES = 0x1000;

let millisecond = 0;
let sequence = 0;

/** A new UUIDv7: 48 bits of Unix milliseconds, 12 that count within one, then random bits. Ids of one process sort by their creation. */
export function newId(): string {
  const now = Date.now();
  sequence++;
  if (now > millisecond) startMillisecond(now);
  else if (sequence === SEQUENCES) startMillisecond(millisecond + 1);
  const time = millisecond.toString(16).padStart(12, '0');
  const random = randomUUID().slice('xxxxxxxx-xxxx-4xxx-'.length);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence.toString(16).padStart(3, '0')}-${random}`;
}

/** A fast process, or a clock that was set back, is for a while ahead of the clock. */
function startMillisecond(next: number): void {
  millisecond = next;
  sequence = 0;
}
