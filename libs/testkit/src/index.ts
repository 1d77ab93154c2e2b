export { startProgram, startScript, type Program, type ProgramExit, type ProgramOptions } from './program.js';
export { waitFor } from './wait-for.js';
