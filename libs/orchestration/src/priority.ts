/** Whose turn comes first where turns are scarce: the queue delivers the lower number first (K24). */
export const URGENT = 1;
export const ORDINARY = 2;
