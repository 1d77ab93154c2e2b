import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type FaultProxy, startFaultProxy } from './index.js';

let echo: Server;
let proxy: FaultProxy;

beforeEach(async () => {
  echo = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  proxy = await startFaultProxy({ port: (echo.address() as { port: number }).port });
});

afterEach(async () => {
  await proxy.close();
  await new Promise((resolve) => echo.close(resolve));
});

async function open(): Promise<Socket> {
  const socket = connect(proxy.port, '127.0.0.1').setEncoding('utf8');
  await once(socket, 'connect');
  return socket;
}

async function ask(socket: Socket, text: string): Promise<unknown> {
  socket.write(text);
  return new Promise((resolve) => socket.once('data', resolve));
}

describe('a fault proxy', () => {
  test('passes bytes both ways and stands in for the host of an address', async () => {
    const socket = await open();
    expect(await ask(socket, 'hello')).toBe('hello');
    expect(proxy.through('postgresql://me:secret@elsewhere:5432/db?a=b')).toBe(`postgresql://me:secret@127.0.0.1:${proxy.port}/db?a=b`);
    socket.destroy();
  });

  test('cuts connections, refuses new ones, and serves again after resume', async () => {
    const socket = await open();
    await ask(socket, 'hello');
    proxy.cut();
    await new Promise((resolve) => socket.once('close', resolve));
    const refused = connect(proxy.port, '127.0.0.1').on('error', () => undefined);
    await new Promise((resolve) => refused.once('close', resolve));

    proxy.resume();
    const next = await open();
    expect(await ask(next, 'again')).toBe('again');
    next.destroy();
  });

  test('delivers what was sent during a stall only after resume', async () => {
    const socket = await open();
    await ask(socket, 'hello');
    proxy.stall();
    let received = '';
    socket.on('data', (text: string) => (received += text));
    await new Promise((resolve) => socket.write('held', resolve));
    const other = await open();
    other.destroy();
    expect(received).toBe('');
    proxy.resume();
    await once(socket, 'data');
    expect(received).toBe('held');
    socket.destroy();
  });
});
