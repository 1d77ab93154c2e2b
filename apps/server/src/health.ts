/** One fact about what the server stands on, such as `database` or `worker`. */
export interface HealthCheck {
  readonly ok: boolean;
  /** One sentence for whoever operates this; no secrets. */
  readonly detail?: string;
}

/** Readiness: every check by its name. A worker counts as well only if it fetched recently (architecture.md §4.7). */
export interface Health {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, HealthCheck>>;
}
