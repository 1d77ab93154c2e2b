/** A quoted piece, a plain character, or one of the operators between commands. */
const PIECE = /'[^']*'|"[^"$`\\]*"|&&|\|\||[;|\n]|[^'"|&;<>()$`\\{}#\n\p{Cc}]/uy;
const OPERATORS: ReadonlySet<string> = new Set(['&&', '||', ';', '|', '\n']);

/** Beginnings that leave open which program runs: a word of the shell's own that another command follows, `!`, quotes, a glob, an assignment. */
const UNCLEAR =
  /^(?:(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|in|select|function|time|coproc|command|builtin|exec|eval)(?: |$)|!|[^ ]*["'*?[~]|[^ ]*=)/;

/**
 * Takes a shell command apart into its simple commands, in order; `null` where its text does not tell for sure: substitution,
 * redirection, groups, escapes, comments, background, and what runs another program than its first word says.
 */
export function splitCommand(command: string): readonly string[] | null {
  const commands = [''];
  PIECE.lastIndex = 0;
  for (let at = 0; at < command.length; at = PIECE.lastIndex) {
    const piece = PIECE.exec(command)?.[0];
    if (piece === undefined) return null;
    if (OPERATORS.has(piece)) commands.push('');
    else commands[commands.length - 1] += piece;
  }
  const trimmed = commands.map((one) => one.trim().replace(/\s+/g, ' ')).filter((one) => one !== '');
  return trimmed.length === 0 || trimmed.some((one) => UNCLEAR.test(one)) ? null : trimmed;
}
