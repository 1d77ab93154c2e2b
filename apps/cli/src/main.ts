/** The `echelon` command. Its exit codes: docs/cli.md. */
import { Command } from 'commander';
import { addAcpCommand } from './acp/acp.command.js';
import { addChatCommand } from './chat/chat.command.js';
import { addConnectCommand } from './connect.command.js';
import { addDemoCommand } from './demo.command.js';
import { addDoctorCommand } from './doctor.command.js';
import { EXIT, explainFailure } from './exit-code.js';
import { addNotificationCommand } from './notification.command.js';
import { addQuestionCommand } from './question.command.js';
import { addQueueCommand } from './queue.command.js';
import { addTaskCommand } from './task.command.js';
import { addRestoreCommand } from './restore.command.js';
import { addRunCommand } from './run/run.command.js';
import { processTerminal, type Terminal } from './terminal.js';
import { addProfileCommand } from './profile.command.js';
import { addTokenCommand } from './token.command.js';
import { addUpCommand } from './up.command.js';
import { addWorkflowCommand } from './workflow.command.js';
import { addWorkspaceCommand } from './workspace.command.js';

/** Runs one command line and returns its exit code. */
export async function main(argv: readonly string[], terminal: Terminal = processTerminal): Promise<number> {
  const json = argv.includes('--json');
  try {
    await createProgram(terminal, json).parseAsync([...argv]);
    return EXIT.ok;
  } catch (error) {
    const { exitCode, message, code } = explainFailure(error);
    if (message) terminal.err.write(json ? `${JSON.stringify({ error: message, code, exit_code: exitCode })}\n` : `${message}\n`);
    return exitCode;
  }
}

function createProgram(terminal: Terminal, json: boolean): Command {
  const program = new Command('echelon')
    .description('Runs hierarchies of autonomous coding agents.')
    .version('0.1.0')
    .option('--url <url>', 'address of the server (default: ECHELON_URL, or this machine’s)')
    .option('--token <token>', 'operator token (default: ECHELON_TOKEN, or this machine’s)')
    .option('--json', 'print JSON')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out.write(text),
      writeErr: (text) => !json && terminal.err.write(text),
      outputError: () => undefined,
    });
  addUpCommand(program, terminal);
  addDemoCommand(program, terminal);
  addTaskCommand(program, terminal);
  addWorkspaceCommand(program, terminal);
  addWorkflowCommand(program, terminal);
  addProfileCommand(program, terminal);
  addQuestionCommand(program, terminal);
  addQueueCommand(program, terminal);
  addNotificationCommand(program, terminal);
  addConnectCommand(program, terminal);
  addAcpCommand(program, terminal);
  addRunCommand(program, terminal);
  addChatCommand(program, terminal);
  addTokenCommand(program, terminal);
  addDoctorCommand(program, terminal);
  addRestoreCommand(program, terminal);
  return program;
}
