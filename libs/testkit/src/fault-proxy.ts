import { connect, createServer, type Server, type Socket } from 'node:net';

export interface FaultProxy {
  readonly port: number;
  /** The same address as `url`, but through the proxy. */
  through(url: string): string;
  /** Breaks every connection and refuses new ones, until `resume`. */
  cut(): void;
  /** Keeps connections open and delivers nothing in either direction, until `resume`. */
  stall(): void;
  resume(): void;
  close(): Promise<void>;
}

type Mode = 'open' | 'cut' | 'stalled';

/** Stands between a client and a TCP server on this machine, so that a spec can break the line between them. */
export async function startFaultProxy(target: { readonly host?: string; readonly port: number }): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  let mode: Mode = 'open';
  const server = createServer((client) => {
    if (mode === 'cut') return void client.resetAndDestroy();
    const upstream = connect(target.port, target.host ?? '127.0.0.1');
    join(client, upstream, sockets);
    if (mode === 'stalled') for (const socket of [client, upstream]) socket.pause();
  });
  const port = await listen(server);
  const each = (act: (socket: Socket) => unknown) => () => sockets.forEach(act);
  const breakAll = each((socket) => socket.destroy());
  const change = (next: Mode, act: () => void) => () => {
    mode = next;
    act();
  };
  return {
    port,
    through: (url) => replaceHost(url, port),
    cut: change('cut', breakAll),
    stall: change(
      'stalled',
      each((socket) => socket.pause()),
    ),
    resume: change(
      'open',
      each((socket) => socket.resume()),
    ),
    close: () => {
      breakAll();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function join(client: Socket, upstream: Socket, sockets: Set<Socket>): void {
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    sockets.add(from);
    from.on('data', (piece) => to.write(piece));
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.end();
    });
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (typeof address === 'object' && address) resolve(address.port);
    });
  });
}

function replaceHost(url: string, port: number): string {
  const replaced = new URL(url);
  replaced.hostname = '127.0.0.1';
  replaced.port = String(port);
  return replaced.href;
}
