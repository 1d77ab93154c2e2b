#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

enableCompileCache();
const { main } = await import('@echelon/cli');

process.exitCode = await main(process.argv);
