/** What a program does that runs sessions on Postgres: the product, and the least that the same steps take. */
export interface Contestant {
  /** Tasks that have nothing to do. */
  createRoots(work: { readonly count: number }): Promise<void>;
  /**
   * Sends marked prompts to the roots in turn, one every `everyMs`; where that is null, each when the one before has come to rest.
   * Resolves when all have come to rest.
   */
  send(work: { readonly mark: string; readonly count: number; readonly everyMs: number | null }): Promise<readonly Begun[]>;
  /** Children that have asked their parents and wait. */
  createFamilies(work: { readonly parents: number; readonly children: number }): Promise<void>;
  /** Answers one child after the other, each so that it asks again; resolves when all wait again. */
  answerOneByOne(work: { readonly mark: string; readonly count: number }): Promise<readonly Begun[]>;
  /** Answers every child so many times, as soon as it asks; resolves when all wait again. */
  answerAll(work: { readonly times: number }): Promise<{ readonly answers: number; readonly ms: number }>;
  /** A child and its parent, both driven: the child asks so many times, and the parent answers under a mark. */
  goRound(work: { readonly mark: string; readonly times: number }): Promise<void>;
  /** So many more families as the first one, whose children wait. */
  multiply(work: { readonly copies: number }): Promise<void>;
  /** Children that wait, whichever process they asked in. */
  countWaiting(work: object): Promise<number>;
  /** Answers so many that wait, all at once; resolves when they wait again. */
  answerMany(work: { readonly count: number }): Promise<{ readonly answers: number; readonly ms: number }>;
  /** What the process costs while nothing happens for so long. */
  restCost(work: { readonly ms: number }): Promise<RestCost>;
}

export interface RestCost {
  /** Heap in use after a collection. */
  readonly heapKb: number;
  readonly cpuMsPerSecond: number;
  /** Commits and rollbacks in the program's database, without those of the measurement. */
  readonly transactionsPerSecond: number;
}

/** When the measured time of a mark begins, in ms of the common clock. */
export interface Begun {
  readonly mark: string;
  readonly at: number;
}
