/** How a command reaches the server: options, then the environment, then what this machine's data folder knows. */
import { type ApiClient, createApiClient } from '@echelon/api-client';
import { readConfig, readOperatorToken } from '@echelon/platform/start';
import { usage } from './arguments.js';
import { serverAddress } from './server-address.js';

export interface ConnectionOptions {
  readonly url?: string;
  readonly token?: string;
}

/** Address and token of the server. Throws `CommandError` when no token is known. */
export function locateServer({ url, token }: ConnectionOptions): { readonly baseUrl: string; readonly token: string } {
  const config = readConfig();
  const baseUrl = url ?? (config.env.ECHELON_URL || serverAddress(config));
  if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) throw usage('The server’s address begins with http:// or https://.');
  const known = token ?? readOperatorToken(config);
  if (!known) throw usage('No token is known here: pass --token, or set ECHELON_TOKEN.');
  return { baseUrl, token: known };
}

export function connect(options: ConnectionOptions): ApiClient {
  return createApiClient(locateServer(options));
}
