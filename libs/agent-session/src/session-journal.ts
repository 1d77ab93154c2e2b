/** The loop's barriers on the store of this machine: each is one append, on the disk before anything goes past it (agent-loop.md §7). */
import type {
  BarrierReply,
  CallsBarrier,
  CompactionBarrier,
  Journal,
  LoopCounters,
  PrepareReply,
  RequestBarrier,
  SealedResponse,
  Unrecorded,
} from '@echelon/agent-loop';
import type { SessionInbox } from './session-inbox.js';
import type { SessionRecord } from './session-record.js';

export class SessionJournal implements Journal {
  constructor(
    private readonly append: (records: readonly SessionRecord[]) => void,
    private readonly inbox: SessionInbox,
  ) {}

  prepareRequest(barrier: RequestBarrier): Promise<PrepareReply> {
    return settled(() => {
      const input = this.inbox.take(barrier.sendType);
      const { round, model, counters } = barrier;
      const included = input.map(({ message, kind }): SessionRecord => ({ type: 'message', message, said: kind }));
      try {
        this.append([...recordsOf(barrier), ...included, { type: 'request', round, model, counters }]);
      } catch (error) {
        this.inbox.putBack(input);
        throw error;
      }
      return { status: 'committed', input: input.map(({ message }) => message) };
    });
  }

  sealResponse(response: SealedResponse, intents: readonly string[]): Promise<BarrierReply> {
    return this.commit([{ type: 'response', response }, ...intentsOf(intents)]);
  }

  recordCalls({ results, intents }: CallsBarrier): Promise<BarrierReply> {
    return this.commit([...resultsOf(results), ...intentsOf(intents)]);
  }

  compact(barrier: CompactionBarrier): Promise<BarrierReply> {
    const { summary, instructions, kept, counters } = barrier;
    return this.commit([...recordsOf(barrier), { type: 'compaction', summary, instructions, kept, counters }]);
  }

  /** What no barrier has stored of a turn that goes on. */
  keep(unrecorded: Unrecorded): void {
    this.append(recordsOf(unrecorded));
  }

  /** The end of the turn, with what no barrier has stored (barrier 5). */
  end(unrecorded: Unrecorded, reason: string, counters: LoopCounters): void {
    this.append([...recordsOf(unrecorded), { type: 'turn_end', reason, counters }]);
  }

  private commit(records: readonly SessionRecord[]): Promise<BarrierReply> {
    return settled(() => {
      this.append(records);
      return { status: 'committed', leadPending: this.inbox.leadPending };
    });
  }
}

/** Within one barrier: response, results, messages. */
function recordsOf({ response, results, messages }: Unrecorded): readonly SessionRecord[] {
  return [
    ...(response === null ? [] : [{ type: 'response', response } as const]),
    ...resultsOf(results),
    ...messages.map((message) => ({ type: 'message', message }) as const),
  ];
}

function resultsOf(results: Unrecorded['results']): readonly SessionRecord[] {
  return results.length === 0 ? [] : [{ type: 'results', results }];
}

function intentsOf(callIds: readonly string[]): readonly SessionRecord[] {
  return callIds.length === 0 ? [] : [{ type: 'intents', call_ids: callIds }];
}

/** The store answers at once; what it throws becomes a rejection. */
function settled<Reply>(write: () => Reply): Promise<Reply> {
  return new Promise((resolve) => resolve(write()));
}
