/** Imports an installed peer: names are resolved from this folder, where they are installed. */
export function importPeer(name: string): Promise<unknown> {
  return import(name) as Promise<unknown>;
}
