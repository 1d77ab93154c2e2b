/** Where Nest finds the services: one value, made outside. */
export const SERVICES = Symbol('services');
