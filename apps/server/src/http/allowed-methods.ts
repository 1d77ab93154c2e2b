import type { OpenAPIObject } from '@nestjs/swagger';

/** The methods that a path takes, sorted; none where there is no such route. */
export type AllowedMethods = (path: string) => readonly string[];

const METHODS = ['delete', 'get', 'patch', 'post', 'put'] as const;

/** Reads the routes of the API from its own document. */
export function allowedMethodsOf({ paths }: OpenAPIObject): AllowedMethods {
  const routes = Object.entries(paths).map(([path, item]) => ({
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`, 'i'),
    methods: METHODS.filter((method) => item[method]).flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()])),
  }));
  return (path) => [...new Set(routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods))].toSorted();
}
