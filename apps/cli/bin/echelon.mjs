#!/usr/bin/env node
import { main } from '@echelon/cli';

process.exitCode = await main(process.argv);
