import { describe, expect, test } from '@jest/globals';
import type { Mutation } from './core.js';
import { exploreStructure } from './structure-model.js';

describe('the forest keeps its shape and its counts in every interleaving', () => {
  test('of two opposite moves one is refused [K20]', () => {
    expect(exploreStructure('opposite_moves').violation).toBeNull();
  });

  test('the end of the last child is told once, whatever is created or moved beside it [K20]', () => {
    expect(exploreStructure('last_children').violation).toBeNull();
  });

  test('nothing lives below what a cascade has stopped [K20]', () => {
    expect(exploreStructure('cascade').violation).toBeNull();
  });
});

describe('each rule of K20 is needed', () => {
  test.each<readonly [Mutation, Parameters<typeof exploreStructure>[0], string]>([
    ['no-structure-lock', 'opposite_moves', 'is its own ancestor'],
    ['no-parent-lock', 'last_children', 'open children and has'],
    ['zero-untold', 'last_children', 'was not told that its children are done'],
    ['no-parent-lock', 'cascade', 'open children and has'],
    ['create-ignores-mark', 'cascade', 'lives below a stopped task'],
    ['move-ignores-mark', 'cascade', 'lives below a stopped task'],
  ])('%s in %s: %s [K20]', (mutation, scenario, fact) => {
    const mutations: readonly Mutation[] = mutation === 'no-structure-lock' ? [mutation, 'no-parent-lock'] : [mutation];
    expect(exploreStructure(scenario, mutations).violation?.facts.join()).toContain(fact);
  });
});
