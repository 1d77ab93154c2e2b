/** How many clients answer at the same time. */
const CLIENTS = 64;

/** Does the same with each, so many at once. */
export async function eachAtOnce<T>(items: readonly T[], act: (item: T) => Promise<unknown>, clients = CLIENTS): Promise<void> {
  const left = items.values();
  const work = async () => {
    for (const item of left) await act(item);
  };
  await Promise.all(Array.from({ length: clients }, work));
}
