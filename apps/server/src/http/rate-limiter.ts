const MINUTE_MS = 60_000;
/** Buckets are forgotten from this number on, the longest unused first; a forgotten bucket is full again. */
const MAX_BUCKETS = 100_000;

interface Bucket {
  tokens: number;
  at: number;
}

/** A bucket of requests per key, filled evenly; a minute's worth may come at once. */
export class RateLimiter {
  readonly #buckets = new Map<string, Bucket>();

  /** `perMinute` 0 is unlimited; `now` gives milliseconds that only grow. */
  constructor(
    private readonly perMinute: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Takes one request from the key's bucket: 0, or the whole seconds to wait. */
  take(key: string): number {
    if (this.perMinute === 0) return 0;
    const bucket = this.#refilled(key);
    if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) * MINUTE_MS) / this.perMinute / 1000);
    bucket.tokens -= 1;
    return 0;
  }

  #refilled(key: string): Bucket {
    const now = this.now();
    const known = this.#buckets.get(key);
    const tokens = known ? Math.min(this.perMinute, known.tokens + ((now - known.at) * this.perMinute) / MINUTE_MS) : this.perMinute;
    const bucket = { tokens, at: now };
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    this.#forgetOldest();
    return bucket;
  }

  #forgetOldest(): void {
    if (this.#buckets.size <= MAX_BUCKETS) return;
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}
